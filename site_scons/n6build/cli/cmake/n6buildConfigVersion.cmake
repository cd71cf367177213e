# SPDX-License-Identifier: Apache-2.0
#
# For find_package(n6build 0.5 CONFIG): the command knows the version. Later versions of the same major one do, too.
find_program(N6BUILD_EXECUTABLE n6build NO_CMAKE_FIND_ROOT_PATH DOC "the command n6build")
set(n6build_version "")
if(N6BUILD_EXECUTABLE)
    execute_process(COMMAND "${N6BUILD_EXECUTABLE}" --version OUTPUT_VARIABLE n6build_version ERROR_QUIET)
endif()
if(n6build_version MATCHES "^n6build (([0-9]+)([.][0-9]+)*)")
    set(PACKAGE_VERSION "${CMAKE_MATCH_1}")
    set(n6build_major "${CMAKE_MATCH_2}")
    if(PACKAGE_FIND_VERSION_RANGE)
        if(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MIN
                AND ((PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE"
                        AND PACKAGE_VERSION VERSION_LESS_EQUAL PACKAGE_FIND_VERSION_MAX)
                    OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE"
                        AND PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX)))
            set(PACKAGE_VERSION_COMPATIBLE TRUE)
        endif()
    elseif(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION
            AND n6build_major STREQUAL "${PACKAGE_FIND_VERSION_MAJOR}")
        set(PACKAGE_VERSION_COMPATIBLE TRUE)
    endif()
    if(PACKAGE_VERSION VERSION_EQUAL "${PACKAGE_FIND_VERSION}")
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
else()
    # n6buildConfig.cmake says what is wrong.
    set(PACKAGE_VERSION 0)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()

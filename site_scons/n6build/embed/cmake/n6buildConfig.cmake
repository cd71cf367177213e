# SPDX-License-Identifier: Apache-2.0
#
# Networks by n6build in a project that is built by CMake, with Ninja or make:
#
#     find_package(n6build CONFIG REQUIRED)               # cmake -Dn6build_DIR=$(n6build --cmake-dir)
#     n6build_add_network(app MODEL model/keyword.tflite BOARD nucleo-n657 [PROFILE p] [OPTIONS name=value ...])
#     n6build_image(app [ALL])                            # target app_n6_image: images and checks
#     n6build_flash(app [OPTIONS probe=... ...])          # target app_n6_flash
#     n6build_run(app [OPTIONS probe=virtual until=... ...])   # target app_n6_run
#
# All four belong into the CMakeLists.txt that makes the target. It is linked with the networks, and takes the Appli's place in
# flash. What n6build makes is in n6build/app of the build folder.
if(CMAKE_VERSION VERSION_LESS 3.21)
    set(n6build_FOUND FALSE)
    set(n6build_NOT_FOUND_MESSAGE "n6build needs CMake 3.21 or later, this is ${CMAKE_VERSION}")
    return()
endif()
# The project's toolchain file may restrict where programs are looked for.
find_program(N6BUILD_EXECUTABLE n6build NO_CMAKE_FIND_ROOT_PATH DOC "the command n6build")
if(NOT N6BUILD_EXECUTABLE)
    set(n6build_FOUND FALSE)
    set(n6build_NOT_FOUND_MESSAGE "the command n6build is not in PATH; -DN6BUILD_EXECUTABLE=FILE names it")
    return()
endif()

function(n6build_add_network target)
    cmake_parse_arguments(PARSE_ARGV 1 n6 "" "BOARD;PROFILE" "MODEL;OPTIONS")
    if(n6_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "n6build_add_network(${target}): unknown arguments ${n6_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT TARGET ${target})
        message(FATAL_ERROR "n6build_add_network: there is no target ${target}; add_executable comes first")
    endif()
    get_target_property(n6_known ${target} N6_FOLDER)
    if(n6_known)
        message(FATAL_ERROR "n6build_add_network(${target}) is called twice; MODEL takes several models")
    endif()
    set(n6_models "")
    foreach(n6_model IN LISTS n6_MODEL)
        if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${n6_model}")
            set(n6_model "${CMAKE_CURRENT_SOURCE_DIR}/${n6_model}")
        endif()
        list(APPEND n6_models "${n6_model}")
    endforeach()
    list(JOIN n6_models "," n6_models)
    set(n6_folder "n6build/${target}")
    set(n6_program "${CMAKE_CURRENT_BINARY_DIR}/${n6_folder}/program/${target}.elf")
    set(n6_given "appli=${n6_program}" ${n6_OPTIONS})
    foreach(n6_name model board profile)
        string(TOUPPER "${n6_name}" n6_upper)
        set(n6_value "${n6_${n6_upper}}")
        if(n6_name STREQUAL "model")
            set(n6_value "${n6_models}")
        endif()
        if(n6_value)
            list(APPEND n6_given "${n6_name}=${n6_value}")
        endif()
    endforeach()
    execute_process(
        COMMAND "${N6BUILD_EXECUTABLE}" embed cmake --build "${n6_folder}" --project "${CMAKE_CURRENT_SOURCE_DIR}" ${n6_given}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        RESULT_VARIABLE n6_status
        ERROR_VARIABLE n6_error)
    if(n6_status)
        message(FATAL_ERROR "n6build_add_network(${target}): ${n6_error}")
    endif()
    include("${CMAKE_CURRENT_BINARY_DIR}/${n6_folder}/targets.cmake")
    add_custom_target(${target}_n6_library DEPENDS ${n6_library})
    add_dependencies(${target} ${target}_n6_library)
    target_link_libraries(${target} PRIVATE ${n6_library} ${n6_link})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${n6_library})
    target_include_directories(${target} PRIVATE "${n6_include}")
    add_custom_command(
        OUTPUT "${n6_program}"
        DEPENDS ${target}
        COMMAND ${CMAKE_COMMAND} -E copy "$<TARGET_FILE:${target}>" "${n6_program}"
        COMMENT "" VERBATIM)
    set_target_properties(${target} PROPERTIES
        N6_FOLDER "${n6_folder}" N6_GIVEN "${n6_given}" N6_IMAGE "${n6_build}")
endfunction()

function(n6build_image target)
    n6build_needs_network(n6build_image ${target})
    cmake_parse_arguments(PARSE_ARGV 1 n6 "ALL" "" "")
    get_target_property(n6_image ${target} N6_IMAGE)
    set(n6_all "")
    if(n6_ALL)
        set(n6_all ALL)
    endif()
    add_custom_target(${target}_n6_image ${n6_all} DEPENDS ${n6_image})
    # Not only its files: make would else do the steps of the library twice at a time.
    add_dependencies(${target}_n6_image ${target})
endfunction()

function(n6build_flash target)
    n6build_on_board(n6build_flash ${target} flash ${ARGN})
endfunction()

function(n6build_run target)
    n6build_on_board(n6build_run ${target} run ${ARGN})
endfunction()

function(n6build_on_board function target name)
    set(n6_goals flash)
    if(name STREQUAL "run")
        list(APPEND n6_goals run)
    endif()
    n6build_needs_network(${function} ${target})
    if(NOT TARGET ${target}_n6_image)
        n6build_image(${target})
    endif()
    cmake_parse_arguments(PARSE_ARGV 3 n6 "" "" "OPTIONS")
    get_target_property(n6_folder ${target} N6_FOLDER)
    get_target_property(n6_given ${target} N6_GIVEN)
    add_custom_target(${target}_n6_${name}
        COMMAND "${N6BUILD_EXECUTABLE}" ${n6_goals} --build "${n6_folder}" ${n6_given} ${n6_OPTIONS}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        USES_TERMINAL VERBATIM)
    add_dependencies(${target}_n6_${name} ${target}_n6_image)
endfunction()

function(n6build_needs_network function target)
    get_target_property(n6_folder ${target} N6_FOLDER)
    if(NOT n6_folder)
        message(FATAL_ERROR "${function}(${target}): n6build_add_network(${target} ...) comes first")
    endif()
endfunction()

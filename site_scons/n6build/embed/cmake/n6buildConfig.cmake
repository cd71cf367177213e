# SPDX-License-Identifier: Apache-2.0
#
# Networks by n6build in a project that is built by CMake, with Ninja or make (docs/embedding/cmake.md):
#
#     find_package(n6build CONFIG REQUIRED)               # cmake -Dn6build_DIR=$(n6build --cmake-dir)
#     n6build_add_network(app MODEL model/keyword.tflite BOARD nucleo-n657 [PROFILE p] [OPTIONS name=value ...])
#     n6build_image(app [ALL])                            # target app_n6_image: images and checks
#     n6build_flash(app [OPTIONS probe=... ...])          # target app_n6_flash
#     n6build_run(app [OPTIONS probe=virtual until=... ...])   # target app_n6_run
#
# All four belong into the CMakeLists.txt that makes the target. It is linked with the networks, and takes the Appli's place in
# flash. What n6build makes is in n6build/app of the build folder, with Ninja Multi-Config in n6build/app/<configuration>.
if(CMAKE_VERSION VERSION_LESS 3.21)
    set(n6build_FOUND FALSE)
    set(n6build_NOT_FOUND_MESSAGE "n6build needs CMake 3.21 or later, this is ${CMAKE_VERSION}")
    return()
endif()
cmake_policy(VERSION 3.21...4.0)
# The project's toolchain file may restrict where programs are looked for.
find_program(N6BUILD_EXECUTABLE n6build NO_CMAKE_FIND_ROOT_PATH DOC "the command n6build")
if(NOT N6BUILD_EXECUTABLE)
    set(n6build_FOUND FALSE)
    set(n6build_NOT_FOUND_MESSAGE "the command n6build is not in PATH; -DN6BUILD_EXECUTABLE=FILE names it")
    return()
endif()
execute_process(
    COMMAND "${N6BUILD_EXECUTABLE}" --cmake-dir
    OUTPUT_VARIABLE n6build_place
    ERROR_VARIABLE n6build_error
    RESULT_VARIABLE n6build_status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
if(n6build_status)
    set(n6build_FOUND FALSE)
    set(n6build_NOT_FOUND_MESSAGE "${N6BUILD_EXECUTABLE} does not work: ${n6build_status} ${n6build_error}")
    return()
endif()
file(REAL_PATH "${n6build_place}" n6build_place)
file(REAL_PATH "${CMAKE_CURRENT_LIST_DIR}" n6build_here)
if(NOT n6build_place STREQUAL n6build_here)
    set(n6build_FOUND FALSE)
    set(n6build_NOT_FOUND_MESSAGE
        "${N6BUILD_EXECUTABLE} belongs to ${n6build_place}; -DN6BUILD_EXECUTABLE=FILE names the command of this one")
    return()
endif()

function(n6build_add_network target)
    cmake_parse_arguments(PARSE_ARGV 1 n6 "" "BOARD;PROFILE" "MODEL;OPTIONS")
    n6build_check_target(${target})
    n6build_refuse("n6build_add_network(${target})" "${n6_UNPARSED_ARGUMENTS}" "${n6_KEYWORDS_MISSING_VALUES}")
    if(NOT n6_MODEL)
        message(FATAL_ERROR "n6build_add_network(${target}): MODEL is missing: a name, a file or a folder")
    endif()
    set(n6_models "")
    foreach(n6_model IN LISTS n6_MODEL)
        if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${n6_model}")
            set(n6_model "${CMAKE_CURRENT_SOURCE_DIR}/${n6_model}")
        endif()
        list(APPEND n6_models "${n6_model}")
    endforeach()
    list(JOIN n6_models "," n6_models)
    set(n6_chosen "model=${n6_models}")
    foreach(n6_name BOARD PROFILE)
        if(DEFINED n6_${n6_name})
            string(TOLOWER "${n6_name}" n6_lower)
            list(APPEND n6_chosen "${n6_lower}=${n6_${n6_name}}")
        endif()
    endforeach()
    list(APPEND n6_chosen ${n6_OPTIONS})
    # A plan for each configuration, with the same steps: one set of rules for all. Each has a program of its own.
    get_property(n6_is_multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    set(n6_folder "n6build/${target}")
    if(n6_is_multi)
        foreach(n6_config IN LISTS CMAKE_CONFIGURATION_TYPES)
            n6build_plan(${target} "n6build/${target}/${n6_config}" ${n6_chosen})
        endforeach()
        list(GET CMAKE_CONFIGURATION_TYPES 0 n6_config)
        file(READ "${CMAKE_CURRENT_BINARY_DIR}/${n6_folder}/${n6_config}/targets.cmake" n6_rules)
        string(REPLACE "${n6_folder}/${n6_config}" "${n6_folder}/$<CONFIG>" n6_rules "${n6_rules}")
        file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${n6_folder}/targets.cmake" "${n6_rules}")
    else()
        n6build_plan(${target} "${n6_folder}" ${n6_chosen})
    endif()
    include("${CMAKE_CURRENT_BINARY_DIR}/${n6_folder}/targets.cmake")
    if(n6_is_multi)
        string(APPEND n6_folder "/$<CONFIG>")
    endif()
    add_custom_target(${target}_n6_library DEPENDS ${n6_library})
    add_dependencies(${target} ${target}_n6_library)
    target_link_libraries(${target} PRIVATE ${n6_library} ${n6_link})
    target_include_directories(${target} PRIVATE "${n6_include}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${n6_library})
    set(n6_program "${CMAKE_CURRENT_BINARY_DIR}/${n6_folder}/program/${target}.elf")
    add_custom_command(
        OUTPUT "${n6_program}"
        DEPENDS ${target}
        COMMAND ${CMAKE_COMMAND} -E copy "$<TARGET_FILE:${target}>" "${n6_program}"
        COMMENT "" VERBATIM)
    set_target_properties(${target} PROPERTIES
        N6_FOLDER "${n6_folder}" N6_GIVEN "appli=${n6_program};${n6_chosen}" N6_IMAGE "${n6_build}")
endfunction()

# Writes the plan and its rules. Behind folder, of all that is built: the options.
function(n6build_plan target folder)
    execute_process(
        COMMAND ${CMAKE_COMMAND} -E env "N6BUILD_PROJECT=${CMAKE_CURRENT_SOURCE_DIR}"
            "${N6BUILD_EXECUTABLE}" embed cmake --build "${folder}" --command "${N6BUILD_EXECUTABLE}"
            "appli=${CMAKE_CURRENT_BINARY_DIR}/${folder}/program/${target}.elf" ${ARGN}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        RESULT_VARIABLE n6_status
        ERROR_VARIABLE n6_error
        ERROR_STRIP_TRAILING_WHITESPACE)
    if(n6_status)
        # Indented, or CMake would fill its lines.
        string(REPLACE "\n" "\n  " n6_error "${n6_error}")
        message(FATAL_ERROR "n6build_add_network(${target}) fails:\n  ${n6_error}")
    endif()
endfunction()

function(n6build_image target)
    n6build_needs_network(n6build_image ${target})
    cmake_parse_arguments(PARSE_ARGV 1 n6 "ALL" "" "")
    n6build_refuse("n6build_image(${target})" "${n6_UNPARSED_ARGUMENTS}" "")
    if(NOT TARGET ${target}_n6_image)
        get_target_property(n6_image ${target} N6_IMAGE)
        add_custom_target(${target}_n6_image DEPENDS ${n6_image})
        # Not only its files: make would else do the steps of the library twice at a time.
        add_dependencies(${target}_n6_image ${target})
        set_target_properties(${target}_n6_image PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    if(n6_ALL)
        set_target_properties(${target}_n6_image PROPERTIES EXCLUDE_FROM_ALL FALSE)
    endif()
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
    cmake_parse_arguments(PARSE_ARGV 3 n6 "" "" "OPTIONS")
    n6build_refuse("${function}(${target})" "${n6_UNPARSED_ARGUMENTS}" "${n6_KEYWORDS_MISSING_VALUES}")
    n6build_image(${target})
    get_target_property(n6_folder ${target} N6_FOLDER)
    get_target_property(n6_chosen ${target} N6_GIVEN)
    add_custom_target(${target}_n6_${name}
        COMMAND sh "${n6_folder}/.n6build/command" ${n6_goals} --build "${n6_folder}" --jobs 1
            ${n6_chosen} ${n6_OPTIONS}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        USES_TERMINAL VERBATIM)
    add_dependencies(${target}_n6_${name} ${target}_n6_image)
endfunction()

function(n6build_needs_network function target)
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${function}(${target}): there is no target ${target}")
    endif()
    get_target_property(n6_folder ${target} N6_FOLDER)
    if(NOT n6_folder)
        message(FATAL_ERROR "${function}(${target}): n6build_add_network(${target} ...) comes first")
    endif()
endfunction()

function(n6build_check_target target)
    set(n6_call "n6build_add_network(${target})")
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${n6_call}: there is no target ${target}; add_executable comes first")
    endif()
    get_target_property(n6_type ${target} TYPE)
    get_target_property(n6_imported ${target} IMPORTED)
    if(n6_imported OR NOT n6_type STREQUAL "EXECUTABLE")
        message(FATAL_ERROR "${n6_call}: ${target} is not made by add_executable, and cannot go to flash")
    endif()
    get_target_property(n6_known ${target} N6_FOLDER)
    if(n6_known)
        message(FATAL_ERROR "${n6_call} is called twice; MODEL takes several models")
    endif()
    get_target_property(n6_source ${target} SOURCE_DIR)
    if(NOT n6_source STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "${n6_call} belongs into ${n6_source}/CMakeLists.txt, where ${target} is made")
    endif()
    if(NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_C_COMPILER MATCHES "arm")
        message(FATAL_ERROR "${n6_call}: ${CMAKE_C_COMPILER} compiles for this computer; "
            "-DCMAKE_TOOLCHAIN_FILE=FILE names a compiler for Cortex-M55")
    endif()
endfunction()

function(n6build_refuse call unknown empty)
    if(unknown)
        message(FATAL_ERROR "${call}: unknown arguments ${unknown}")
    endif()
    # A variable may be empty.
    list(REMOVE_ITEM empty OPTIONS)
    if(empty)
        message(FATAL_ERROR "${call}: ${empty} has no value")
    endif()
endfunction()

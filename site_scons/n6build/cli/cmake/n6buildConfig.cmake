# SPDX-License-Identifier: Apache-2.0
#
# Networks by n6build in a project that is built by CMake, with Ninja or make (docs/embedding/cmake.md):
#
#     find_package(n6build CONFIG REQUIRED)               # cmake -Dn6build_DIR=$(n6build --cmake-dir)
#     n6build_add_network(app MODEL model/keyword.tflite BOARD nucleo-n657 [PROFILE p] [OPTIONS name=value ...]
#         [DEPENDS file ...]                              # files that the project makes, and n6build reads
#         [OWN_RUNTIME])                                  # the project itself links networks and runtime
#     n6build_image(app [ALL])                            # target app_n6_image: images and checks
#     n6build_flash(app [OPTIONS probe=... ...])          # target app_n6_flash
#     n6build_run(app [OPTIONS probe=virtual until=... ...])   # target app_n6_run
#
# All four belong into the CMakeLists.txt that makes the target, in any order, and also before add_executable: what cannot be done
# yet is done at the end of the file. The target is linked with the networks, and takes the Appli's place in flash. What n6build
# makes is in n6build/app of the build folder, with Ninja Multi-Config in n6build/app/<configuration>.
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
    if(NOT TARGET ${target} AND NOT n6build_pass)
        n6build_defer(1 n6build_add_network ${ARGV})
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 n6 "OWN_RUNTIME" "BOARD;PROFILE" "MODEL;OPTIONS;DEPENDS")
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
    set(n6_folder "n6build/${target}")
    set(n6_script "n6build/${target}.sh")
    get_property(n6_is_multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(n6_is_multi)
        # Each configuration has a program of its own.
        list(GET CMAKE_CONFIGURATION_TYPES 0 n6_config)
        n6build_check_options(${target} "${n6_folder}/${n6_config}" "${n6_script}" "${n6_DEPENDS}" ${n6_chosen})
        string(APPEND n6_folder "/$<CONFIG>")
    else()
        n6build_check_options(${target} "${n6_folder}" "${n6_script}" "${n6_DEPENDS}" ${n6_chosen})
    endif()
    set(n6_place "${CMAKE_CURRENT_BINARY_DIR}/${n6_folder}")
    set(n6_program "${n6_place}/program/${target}.elf")
    set(n6_call --build "${n6_folder}" --host "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt" "appli=${n6_program}" ${n6_chosen})
    set_target_properties(${target} PROPERTIES
        N6_FOLDER "${n6_folder}" N6_SCRIPT "${n6_script}" N6_CALL "${n6_call}" N6_NEEDS "${n6_DEPENDS}"
        N6_PROGRAM "${n6_program}" N6_IMAGE "")
    set_property(DIRECTORY APPEND PROPERTY ADDITIONAL_CLEAN_FILES "${n6_place}")
    add_custom_command(
        OUTPUT "${n6_program}"
        DEPENDS ${target}
        COMMAND ${CMAKE_COMMAND} -E copy "$<TARGET_FILE:${target}>" "${n6_program}"
        COMMENT "" VERBATIM)
    if(NOT n6_OWN_RUNTIME)
        n6build_link(${target} "${n6_place}")
    endif()
endfunction()

# Sets the variable `jobs` to the arguments by which a command of n6build shares the jobs of make.
function(n6build_jobs jobs)
    set(${jobs} "" PARENT_SCOPE)
    if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.28)
        set(${jobs} JOB_SERVER_AWARE ON PARENT_SCOPE)
    endif()
endfunction()

# Links the networks into the target. place: folder of what n6build makes.
function(n6build_link target place)
    n6build_jobs(n6_jobs)
    foreach(n6_name SCRIPT CALL NEEDS PROGRAM)
        get_target_property(n6_${n6_name} ${target} N6_${n6_name})
    endforeach()
    # The same files for each board, model and profile. They keep their times where their bytes are as before.
    set(n6_library "${place}/libn6networks.a" "${place}/n6_networks.ld")
    add_custom_target(${target}_n6_library
        DEPENDS ${n6_NEEDS}
        BYPRODUCTS ${n6_library} "${place}/include/n6_made.h" "${place}/.n6build/host-library"
        COMMAND sh "${n6_SCRIPT}" --library "${place}/.n6build/host-library" ${n6_CALL}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        COMMENT "n6build library of ${target}" ${n6_jobs} VERBATIM)
    execute_process(
        COMMAND "${N6BUILD_EXECUTABLE}" --include-dir
        OUTPUT_VARIABLE n6_include OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    add_dependencies(${target} ${target}_n6_library)
    # The project may call target_link_libraries with PRIVATE or, as STM32CubeMX does, without; both forms at once are an error.
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${n6_library})
    target_include_directories(${target} PRIVATE "${n6_include}" "${place}/include")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${n6_library})
    # Not at all where n6build has found nothing to do, and the program is as it was.
    add_custom_command(
        OUTPUT "${place}/.n6build/host-build"
        DEPENDS "${n6_PROGRAM}" "${place}/.n6build/host-library"
        COMMAND sh "${n6_SCRIPT}" library build ${n6_CALL}
        COMMAND ${CMAKE_COMMAND} -E touch "${place}/.n6build/host-build"
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        COMMENT "n6build images of ${target}" ${n6_jobs} VERBATIM)
    set_target_properties(${target} PROPERTIES N6_IMAGE "${place}/.n6build/host-build")
endfunction()

# Refuses what cannot be built, and writes the script that calls n6build. Behind needs, files that the project makes: the options.
function(n6build_check_options target folder script needs)
    execute_process(
        COMMAND ${CMAKE_COMMAND} -E env "N6BUILD_PROJECT=${CMAKE_CURRENT_SOURCE_DIR}"
            "${N6BUILD_EXECUTABLE}" embed --build "${folder}" --script "${script}" --command "${N6BUILD_EXECUTABLE}"
            "appli=${CMAKE_CURRENT_BINARY_DIR}/${folder}/program/${target}.elf" ${ARGN}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        RESULT_VARIABLE n6_status
        ERROR_VARIABLE n6_error
        ERROR_STRIP_TRAILING_WHITESPACE)
    foreach(n6_file IN LISTS needs)
        get_filename_component(n6_file "${n6_file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
        if(NOT EXISTS "${n6_file}")
            # A model that has yet to be made: the build says what is wrong.
            return()
        endif()
    endforeach()
    if(n6_status)
        # Indented, or CMake would fill its lines.
        string(REPLACE "\n" "\n  " n6_error "${n6_error}")
        message(FATAL_ERROR "n6build_add_network(${target}) fails:\n  ${n6_error}")
    endif()
endfunction()

function(n6build_image target)
    n6build_has_network(n6_is_known n6build_image ${ARGV})
    if(NOT n6_is_known)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 n6 "ALL" "" "")
    n6build_refuse("n6build_image(${target})" "${n6_UNPARSED_ARGUMENTS}" "")
    if(NOT TARGET ${target}_n6_image)
        n6build_jobs(n6_jobs)
        foreach(n6_name SCRIPT CALL NEEDS PROGRAM IMAGE)
            get_target_property(n6_${n6_name} ${target} N6_${n6_name})
        endforeach()
        if(n6_IMAGE)
            add_custom_target(${target}_n6_image DEPENDS "${n6_IMAGE}")
        else()
            # Without a library, nothing else says whether a model has changed: n6build is asked each time.
            add_custom_target(${target}_n6_image
                DEPENDS "${n6_PROGRAM}" ${n6_NEEDS}
                COMMAND sh "${n6_SCRIPT}" build ${n6_CALL}
                WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
                COMMENT "n6build images of ${target}" ${n6_jobs} VERBATIM)
        endif()
        # Not only its files: make knows no rule for the library in this target.
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
    n6build_has_network(n6_is_known ${function} ${target} ${ARGN})
    if(NOT n6_is_known)
        return()
    endif()
    set(n6_goals flash)
    if(name STREQUAL "run")
        list(APPEND n6_goals run)
    endif()
    cmake_parse_arguments(PARSE_ARGV 3 n6 "" "" "OPTIONS")
    n6build_refuse("${function}(${target})" "${n6_UNPARSED_ARGUMENTS}" "${n6_KEYWORDS_MISSING_VALUES}")
    n6build_image(${target})
    get_target_property(n6_script ${target} N6_SCRIPT)
    get_target_property(n6_call ${target} N6_CALL)
    add_custom_target(${target}_n6_${name}
        COMMAND sh "${n6_script}" ${n6_goals} ${n6_call} ${n6_OPTIONS}
        WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
        USES_TERMINAL VERBATIM)
    add_dependencies(${target}_n6_${name} ${target}_n6_image)
endfunction()

# Sets the variable `known` to whether the target has networks. If not yet, the call is repeated at the end of CMakeLists.txt, behind
# all calls of n6build_add_network.
function(n6build_has_network known function target)
    set(n6_folder "")
    if(TARGET ${target})
        get_target_property(n6_folder ${target} N6_FOLDER)
    endif()
    if(n6_folder)
        set(${known} TRUE PARENT_SCOPE)
        return()
    endif()
    set(${known} FALSE PARENT_SCOPE)
    if(NOT n6build_pass)
        n6build_defer(1 ${function} ${target} ${ARGN})
    elseif(n6build_pass EQUAL 1)
        n6build_defer(2 ${function} ${target} ${ARGN})
    elseif(NOT TARGET ${target})
        message(FATAL_ERROR "${function}(${target}): target ${target} does not exist")
    else()
        message(FATAL_ERROR "${function}(${target}): n6build_add_network(${target} ...) is missing")
    endif()
endfunction()

# Repeats a call at the end of the CMakeLists.txt that is read: those of pass 2 behind those of pass 1. Brackets keep blanks and
# quotes in arguments.
function(n6build_defer pass)
    set(n6_words "")
    foreach(n6_word IN LISTS ARGN)
        string(APPEND n6_words " [==[${n6_word}]==]")
    endforeach()
    cmake_language(EVAL CODE "cmake_language(DEFER CALL n6build_repeat ${pass}${n6_words})")
endfunction()

function(n6build_repeat n6build_pass function)
    cmake_language(CALL ${function} ${ARGN})
endfunction()

function(n6build_check_target target)
    set(n6_call "n6build_add_network(${target})")
    if(NOT TARGET ${target})
        message(FATAL_ERROR "${n6_call}: target ${target} does not exist; create it first with add_executable")
    endif()
    get_target_property(n6_type ${target} TYPE)
    get_target_property(n6_imported ${target} IMPORTED)
    if(n6_imported OR NOT n6_type STREQUAL "EXECUTABLE")
        message(FATAL_ERROR "${n6_call}: ${target} must be a target of add_executable")
    endif()
    get_target_property(n6_known ${target} N6_FOLDER)
    if(n6_known)
        message(FATAL_ERROR "${n6_call} is called twice; call it once, with several models after MODEL")
    endif()
    get_target_property(n6_source ${target} SOURCE_DIR)
    if(NOT n6_source STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "${n6_call} must be in ${n6_source}/CMakeLists.txt, which creates ${target}")
    endif()
    if(NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_C_COMPILER MATCHES "arm")
        message(FATAL_ERROR "${n6_call}: ${CMAKE_C_COMPILER} compiles for this computer; "
            "set -DCMAKE_TOOLCHAIN_FILE=FILE to a toolchain file for Cortex-M55")
    endif()
endfunction()

function(n6build_refuse call unknown empty)
    if(unknown)
        message(FATAL_ERROR "${call}: unknown arguments ${unknown}")
    endif()
    # A variable may be empty.
    list(REMOVE_ITEM empty OPTIONS DEPENDS)
    if(empty)
        message(FATAL_ERROR "${call}: ${empty} has no value")
    endif()
endfunction()

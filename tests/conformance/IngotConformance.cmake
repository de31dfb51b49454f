# The conformance suite, for Ingot's own backends and, once installed, for custom ones.

include_guard(GLOBAL)

set(INGOT_CONFORMANCE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

# The tests of what every backend must do. A backend adds one file, with its device_under_test().
set(ingot_conformance_files
    main.cpp children.cpp id_test.cpp blob_test.cpp devices_test.cpp program_test.cpp)
list(TRANSFORM ingot_conformance_files PREPEND ${INGOT_CONFORMANCE_DIR}/)
set(INGOT_CONFORMANCE_SOURCES ${ingot_conformance_files} CACHE INTERNAL "")

# ingot_add_conformance_suite(<target> SOURCES <file with device_under_test()>... [LIBS <the backend>...])
#
# Adds an executable that runs the suite. It needs C++17 and Google Test, and writes files into its working directory.
function(ingot_add_conformance_suite target)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
    find_package(GTest REQUIRED)
    find_package(Threads REQUIRED)
    add_executable(${target} ${INGOT_CONFORMANCE_SOURCES} ${arg_SOURCES})
    target_compile_features(${target} PRIVATE cxx_std_17)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_include_directories(${target} PRIVATE ${INGOT_CONFORMANCE_DIR}/..) # for <conformance/device_under_test.h>
    target_link_libraries(${target} PRIVATE ${arg_LIBS} GTest::gtest Threads::Threads)
    if(NOT arg_LIBS MATCHES "ingot::ingot")
        target_link_libraries(${target} PRIVATE ingot::ingot)
    endif()
endfunction()

# The conformance suite, for Ingot's own backends and, installed, for those of others.

include_guard(GLOBAL)

set(INGOT_CONFORMANCE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

# What every backend must do. A backend brings one file more: its device_under_test().
set(ingot_conformance_files
    main.cpp children.cpp id_test.cpp id_alone_test.cpp blob_test.cpp devices_test.cpp program_test.cpp)
list(TRANSFORM ingot_conformance_files PREPEND ${INGOT_CONFORMANCE_DIR}/)
set(INGOT_CONFORMANCE_SOURCES ${ingot_conformance_files} CACHE INTERNAL "")

# ingot_add_conformance_suite(<target> SOURCES <file with device_under_test()>... [LIBS <the backend>...])
#
# An executable that runs the suite; needs C++17 and Google Test. It writes files into its working directory.
function(ingot_add_conformance_suite target)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
    find_package(GTest REQUIRED)
    find_package(Threads REQUIRED)
    add_executable(${target} ${INGOT_CONFORMANCE_SOURCES} ${arg_SOURCES})
    target_compile_features(${target} PRIVATE cxx_std_17)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_include_directories(${target} PRIVATE ${INGOT_CONFORMANCE_DIR}/..) # of <conformance/device_under_test.h>
    target_link_libraries(${target} PRIVATE ${arg_LIBS} GTest::gtest Threads::Threads)
    if(NOT arg_LIBS MATCHES "ingot::ingot")
        target_link_libraries(${target} PRIVATE ingot::ingot)
    endif()
endfunction()

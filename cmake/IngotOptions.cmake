# The options of the configure step.

option(INGOT_BUILD_SHARED "Build the shared libraries" ON)
option(INGOT_BUILD_STATIC "Install the static libraries (the tests always build them)" ON)
set(INGOT_BACKEND_OPENCL AUTO CACHE STRING "OpenCL backend: ON (required), AUTO (if its loader is there), OFF")
set_property(CACHE INGOT_BACKEND_OPENCL PROPERTY STRINGS ON AUTO OFF)
set(INGOT_BACKEND_LEVEL_ZERO AUTO CACHE STRING "Level Zero backend: ON (required), AUTO (if its loader is there), OFF")
set_property(CACHE INGOT_BACKEND_LEVEL_ZERO PROPERTY STRINGS ON AUTO OFF)
set(INGOT_BACKEND_CUDA AUTO CACHE STRING "CUDA backend: ON (required), AUTO (if the toolkit's headers are there), OFF")
set_property(CACHE INGOT_BACKEND_CUDA PROPERTY STRINGS ON AUTO OFF)
option(INGOT_BACKEND_HIP "Build the HIP backend, which needs nothing to build" ON)
option(INGOT_PERSIST "Build the bundled storages" ON)
set(INGOT_REMOTE AUTO CACHE STRING "Storages on servers: ON (required), AUTO (if their libraries are there), OFF")
set_property(CACHE INGOT_REMOTE PROPERTY STRINGS ON AUTO OFF)
set(INGOT_CLI AUTO CACHE STRING "The tool ingot: ON (required), AUTO (if cJSON and persist are there), OFF")
set_property(CACHE INGOT_CLI PROPERTY STRINGS ON AUTO OFF)

option(INGOT_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(INGOT_REQUIRE_DEVICES "Fail where a device or tool of a test is missing, instead of leaving the test out" OFF)
option(INGOT_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(INGOT_BUILD_BENCHMARKS "Build the benchmarks" OFF)

option(INGOT_LTO "Optimize each shared library as a whole (gcc; not in builds of type Debug)" ON)
option(INGOT_WERROR "Warnings are errors" OFF)
set(INGOT_SANITIZE "" CACHE STRING "Sanitizers for everything that is built: address,undefined or thread")
option(INGOT_COVERAGE "Count which lines run" OFF)
option(INGOT_FUZZ "Build the fuzzers and instrument the libraries for them (clang)" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
if(NOT INGOT_BUILD_SHARED AND NOT INGOT_BUILD_STATIC)
    message(FATAL_ERROR "Ingot: INGOT_BUILD_SHARED and INGOT_BUILD_STATIC are both off: nothing would be built.")
endif()

set(ingot_summary "" CACHE INTERNAL "")

# Adds a line to the summary at the end of the configure step.
function(ingot_summary_line what state)
    set(ingot_summary "${ingot_summary};${what}: ${state}" CACHE INTERNAL "")
endfunction()

# Handles a backend that cannot be built: fails if it was set to ON, otherwise adds a line to the summary.
function(ingot_backend_is_missing what option reason)
    if(NOT ${option} STREQUAL "AUTO")
        message(FATAL_ERROR "Ingot: ${option} is ${${option}}, but there are ${reason}.")
    endif()
    ingot_summary_line("${what}" "off: ${reason}")
endfunction()

function(ingot_print_summary)
    message(STATUS "Ingot ${PROJECT_VERSION}:")
    foreach(line IN LISTS ingot_summary)
        if(line)
            message(STATUS "  ${line}")
        endif()
    endforeach()
endfunction()

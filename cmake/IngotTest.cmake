# Functions that add test programs and benchmarks, with one ctest entry for each device that a test runs on.
#
# scripts/with-device gives each test its platform, an empty driver cache and its own scratch directory.

enable_language(CXX)

# The tests compare Ingot's hashes with those of the library libxxhash.
ingot_find_dependency(xxhash xxhash.h xxhash libxxhash-dev)
if(NOT TARGET ingot_dep::xxhash)
    message(FATAL_ERROR "Ingot: the tests need libxxhash (Debian package libxxhash-dev), or INGOT_BUILD_TESTS=OFF.")
endif()
if(INGOT_BUILD_TESTS)
    enable_testing()
    find_package(GTest QUIET)
    if(NOT GTest_FOUND)
        message(FATAL_ERROR "Ingot: the tests need Google Test (Debian package libgtest-dev), or "
            "INGOT_BUILD_TESTS=OFF.")
    endif()
endif()

# Leaves a test out because something that it needs is missing: adds a line to the summary, or fails if
# INGOT_REQUIRE_DEVICES requires all tests.
function(ingot_test_left_out what reason)
    if(INGOT_REQUIRE_DEVICES)
        message(FATAL_ERROR "Ingot: ${what} would be left out (INGOT_REQUIRE_DEVICES): ${reason}. "
            "scripts/install-deps installs all that the tests need.")
    endif()
    ingot_summary_line("${what}" "left out: ${reason}")
endfunction()

# Finds which of the tests' devices this machine has. A device that has no package on this system is not required:
# Debian 13 has no Intel driver.
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/install-deps --list OUTPUT_VARIABLE ingot_packages
    COMMAND_ERROR_IS_FATAL ANY)
set(ingot_test_devices "")
foreach(device IN ITEMS pocl intel level_zero-tgllp level_zero-pvc)
    if(CMAKE_CROSSCOMPILING)
        ingot_summary_line("test device ${device}" "left out: cross-compiling")
        continue()
    endif()
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/with-device --check ${device}
        RESULT_VARIABLE missing ERROR_VARIABLE reason ERROR_STRIP_TRAILING_WHITESPACE OUTPUT_QUIET)
    if(missing AND device MATCHES "^(intel|level_zero)" AND NOT ingot_packages MATCHES "intel-opencl-icd\n")
        ingot_summary_line("test device ${device}" "left out: this system has no package of it (${reason})")
    elseif(missing)
        ingot_test_left_out("test device ${device}" "${reason}")
    else()
        list(APPEND ingot_test_devices ${device})
        ingot_summary_line("test device ${device}" "on")
    endif()
endforeach()

# NVIDIA's and AMD's GPUs are used if they are there. They are never required, because no package provides them.
foreach(device IN ITEMS nvidia cuda hip)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/with-device --check ${device}
        RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(NOT missing)
        list(APPEND ingot_test_devices ${device})
        ingot_summary_line("test device ${device}" "on")
    endif()
endforeach()

# True if the CUDA toolkit's compilers can be opened, as the CUDA backend does at run time.
set(INGOT_CUDA_COMPILERS OFF)
if(TARGET ingot::cuda)
    find_program(INGOT_LDCONFIG ldconfig PATHS /sbin /usr/sbin)
    mark_as_advanced(INGOT_LDCONFIG)
    execute_process(COMMAND ${INGOT_LDCONFIG} -p OUTPUT_VARIABLE libraries ERROR_QUIET)
    if(libraries MATCHES "libnvrtc.so.1[23] " AND libraries MATCHES "libnvJitLink.so.1[23] ")
        set(INGOT_CUDA_COMPILERS ON)
    endif()
    ingot_summary_line("CUDA compilers for tests" "${INGOT_CUDA_COMPILERS} (libnvrtc and libnvJitLink, by ldconfig)")
endif()

# The library with hipRTC, as the HIP backend finds it at run time, and its version.
set(INGOT_HIPRTC "")
if(TARGET ingot::hip)
    foreach(major IN ITEMS 7 6 5)
        find_library(INGOT_HIPRTC_${major} NAMES libhiprtc.so.${major} libamdhip64.so.${major})
        mark_as_advanced(INGOT_HIPRTC_${major})
        if(NOT INGOT_HIPRTC AND INGOT_HIPRTC_${major})
            set(INGOT_HIPRTC ${INGOT_HIPRTC_${major}})
            set(INGOT_HIP_MAJOR ${major})
        endif()
    endforeach()
    if(INGOT_HIPRTC)
        ingot_summary_line("hipRTC for tests" "${INGOT_HIPRTC}")
    else()
        ingot_test_left_out("tests of HIP programs" "no libhiprtc.so and libamdhip64.so (Debian package libamdhip64-5)")
    endif()
endif()

# What programs that load drivers need in a build with sanitizers.
#
# intercept_tls_get_addr=0: if a thread-local block of a driver lies 16 bytes into a page, gcc's runtime takes it for a
# block of an old C library, follows the bytes before it, and crashes when it searches for leaks. The option makes it
# ignore such blocks.
#
# new_delete_type_mismatch=0: Intel's compiler deletes objects as another type. The option cannot be limited to a
# library, but Ingot is C and deletes no objects.
add_library(ingot_sanitizer_support INTERFACE)
set(ingot_asan_options intercept_tls_get_addr=0)
set(ingot_asan_options_of_intel ${ingot_asan_options}:new_delete_type_mismatch=0)
set(ingot_sanitizer_environment
    ASAN_OPTIONS=${ingot_asan_options}
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0
    TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp:die_after_fork=0
    UBSAN_OPTIONS=print_stacktrace=1)
if(INGOT_SANITIZE)
    add_library(ingot_sanitizer_objects OBJECT ${PROJECT_SOURCE_DIR}/tests/support/dlopen_without_deepbind.c)
    ingot_compile_settings(ingot_sanitizer_objects)
    target_sources(ingot_sanitizer_support INTERFACE $<TARGET_OBJECTS:ingot_sanitizer_objects>)
    target_link_options(ingot_sanitizer_support INTERFACE LINKER:--export-dynamic-symbol=dlopen)
endif()

# ingot_add_command_test(NAME <name> COMMAND ... [DEVICES pocl intel] [TIMEOUT s] [LABELS ...]
#                        [ENVIRONMENT ...])
#
# Without DEVICES, the test sees no OpenCL platform and is called <name>. Otherwise there is a <name>.<device> for each.
# Tests with a long timeout take longest, so they start first; otherwise a processor would wait for one at the end.
function(ingot_add_command_test)
    cmake_parse_arguments(arg "" "NAME;TIMEOUT" "COMMAND;DEVICES;LABELS;ENVIRONMENT" ${ARGN})
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 300)
    endif()
    if(INGOT_SANITIZE)
        math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
    endif()
    if(NOT arg_DEVICES)
        set(devices none)
    else()
        set(devices ${arg_DEVICES})
    endif()
    foreach(device IN LISTS devices)
        if(device STREQUAL "none")
            set(test ${arg_NAME})
        elseif(device IN_LIST ingot_test_devices)
            set(test ${arg_NAME}.${device})
        else()
            continue()
        endif()
        set(driver_environment "")
        if(NOT device MATCHES "^(none|pocl)$")
            set(driver_environment ASAN_OPTIONS=${ingot_asan_options_of_intel})
        endif()
        set(processors 1)
        if(NOT device STREQUAL "none")
            set(processors 2) # its compiler computes all the time; scripts/test says how many run at once
        endif()
        add_test(NAME ${test} COMMAND ${PROJECT_SOURCE_DIR}/scripts/with-device ${device} ${arg_COMMAND})
        set_tests_properties(${test} PROPERTIES
            TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT} PROCESSORS ${processors} LABELS "${arg_LABELS};${device}"
            ENVIRONMENT "${ingot_sanitizer_environment};${driver_environment};${arg_ENVIRONMENT}")
    endforeach()
endfunction()

# The headers that take longest to compile. They are precompiled once for all tests, unless ccache makes that
# unnecessary.
set(INGOT_TEST_HEADERS <algorithm> <filesystem> <fstream> <functional> <string> <thread> <vector> <gtest/gtest.h>)
if(INGOT_BUILD_TESTS AND NOT INGOT_CCACHE)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/precompiled.cpp CONTENT "int main() {}\n")
    add_executable(ingot_test_precompiled ${PROJECT_BINARY_DIR}/generated/precompiled.cpp) # has -fPIE, as tests do
    ingot_compile_settings(ingot_test_precompiled)
    target_link_libraries(ingot_test_precompiled PRIVATE GTest::gtest Threads::Threads)
    target_precompile_headers(ingot_test_precompiled PRIVATE ${INGOT_TEST_HEADERS})
endif()

# ingot_add_test_objects(<target> SOURCES ...): compiles sources once for several tests.
function(ingot_add_test_objects target)
    cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
    add_library(${target} OBJECT ${arg_SOURCES})
    ingot_compile_settings(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE GTest::gtest Threads::Threads)
    if(TARGET ingot_test_precompiled)
        target_precompile_headers(${target} PRIVATE ${INGOT_TEST_HEADERS}) # precompiled again, since this has -fPIC
    endif()
endfunction()

# ingot_add_test(NAME <name> SOURCES ... [LIBS ...] [DEVICES pocl intel] [MORE_DEVICES ... MORE_FILTER <filter>]
#                [TIMEOUT s] [LABELS ...] [DEFINITIONS ...] [WRAP <function> ...])
#
# Adds a Google Test executable <name>. It may use internal functions, because LIBS is the static core by default. On
# MORE_DEVICES, only what Google Test's filter selects is run: the tests that another driver can make fail. The linker
# redirects calls to each function of WRAP to the test's __wrap_<function>, which can call __real_<function>.
function(ingot_add_test)
    cmake_parse_arguments(arg "" "NAME;TIMEOUT;MORE_FILTER"
        "SOURCES;LIBS;DEVICES;MORE_DEVICES;LABELS;DEFINITIONS;ENVIRONMENT;WRAP" ${ARGN})
    if(NOT arg_LIBS)
        set(arg_LIBS ingot::ingot_static)
    endif()
    foreach(library IN LISTS arg_LIBS)
        if(library MATCHES "^ingot::" AND NOT TARGET ${library})
            ingot_test_left_out("test ${arg_NAME}" "${library} is not built")
            return()
        endif()
    endforeach()
    add_executable(${arg_NAME} ${arg_SOURCES})
    ingot_compile_settings(${arg_NAME})
    if(TARGET ingot_test_precompiled)
        target_precompile_headers(${arg_NAME} REUSE_FROM ingot_test_precompiled)
    endif()
    target_compile_definitions(${arg_NAME} PRIVATE INGOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${arg_DEFINITIONS})
    target_include_directories(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${arg_NAME} PRIVATE
        ingot_test_support ${arg_LIBS} ingot_dep::xxhash ingot_dep::sodium GTest::gtest GTest::gtest_main
        ingot_sanitizer_support Threads::Threads ${CMAKE_DL_LIBS})
    foreach(function IN LISTS arg_WRAP)
        target_link_options(${arg_NAME} PRIVATE LINKER:--wrap=${function})
    endforeach()
    ingot_add_command_test(NAME ${arg_NAME}
        COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${arg_NAME}> DEVICES ${arg_DEVICES}
        TIMEOUT ${arg_TIMEOUT} LABELS ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
    if(arg_MORE_DEVICES)
        ingot_add_command_test(NAME ${arg_NAME} COMMAND $<TARGET_FILE:${arg_NAME}> --gtest_filter=${arg_MORE_FILTER}
            DEVICES ${arg_MORE_DEVICES} TIMEOUT ${arg_TIMEOUT} LABELS ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
        foreach(device IN LISTS arg_MORE_DEVICES)
            if(TEST ${arg_NAME}.${device}) # Google Test passes if its filter selects no test
                set_tests_properties(${arg_NAME}.${device} PROPERTIES FAIL_REGULAR_EXPRESSION "Running 0 tests")
            endif()
        endforeach()
    endif()
endfunction()

# The build compiles the OpenCL C in tests/support/kernels to SPIR-V, for tests and examples without OpenCL. clang and
# the translator must have the same version of LLVM (Debian 12: 14; Debian 13: 19).
foreach(version RANGE 14 22)
    find_program(INGOT_CLANG_${version} NAMES clang-${version})
    find_program(INGOT_LLVM_SPIRV_${version} NAMES llvm-spirv-${version})
    mark_as_advanced(INGOT_CLANG_${version} INGOT_LLVM_SPIRV_${version})
    if(INGOT_CLANG_${version} AND INGOT_LLVM_SPIRV_${version})
        set(INGOT_CLANG ${INGOT_CLANG_${version}})
        set(INGOT_LLVM_SPIRV ${INGOT_LLVM_SPIRV_${version}})
        break()
    endif()
endforeach()

# ingot_add_spirv(<target> NAME <file name without .spv> SOURCE <.cl> [OPTIONS ...]): <target> compiles SOURCE to the
# file NAME.spv in its folder.
function(ingot_add_spirv target)
    cmake_parse_arguments(arg "" "NAME;SOURCE" "OPTIONS" ${ARGN})
    set(module ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.spv)
    set(bitcode ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.bc)
    add_custom_command(OUTPUT ${module}
        COMMAND ${INGOT_CLANG} -c -target spir64 -cl-std=CL1.2 -Xclang -finclude-default-header -O1 -emit-llvm
                ${arg_OPTIONS} ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE} -o ${bitcode}
        COMMAND ${INGOT_LLVM_SPIRV} ${bitcode} -o ${module}
        DEPENDS ${arg_SOURCE} VERBATIM)
    target_sources(${target} PRIVATE ${module})
endfunction()

# ingot_add_benchmark(NAME <name> SOURCES ... [LIBS ...] [DEFINITIONS ...])
#
# Makes the program bench_<name>, which scripts/bench runs as `bench_<name> --json FILE`. In a build with tests, it is
# compiled but not run.
function(ingot_add_benchmark)
    cmake_parse_arguments(arg "" "NAME" "SOURCES;LIBS;DEFINITIONS" ${ARGN})
    add_executable(bench_${arg_NAME} ${arg_SOURCES})
    ingot_compile_settings(bench_${arg_NAME})
    target_compile_definitions(bench_${arg_NAME} PRIVATE INGOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${arg_DEFINITIONS})
    target_include_directories(bench_${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(bench_${arg_NAME} PRIVATE ${arg_LIBS} Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

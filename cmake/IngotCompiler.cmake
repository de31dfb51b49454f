# How all targets are compiled: warnings, visibility, sanitizers.

set(INGOT_C_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wvla)
set(INGOT_CXX_WARNINGS -Wall -Wextra -Wpedantic -Wshadow)
# Applications call drivers on threads with small stacks, so no function of the libraries may need much of them. A
# sanitizer makes frames larger.
set(INGOT_LIBRARY_WARNINGS "")
if(NOT INGOT_SANITIZE AND NOT INGOT_COVERAGE AND NOT INGOT_FUZZ)
    set(INGOT_LIBRARY_WARNINGS -Wframe-larger-than=16384)
endif()

# Flags that must be the same for all targets of a build.
if(INGOT_SANITIZE)
    add_compile_options(-fsanitize=${INGOT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${INGOT_SANITIZE})
    # Only tests and examples are in C++. There, UBSan would find nothing of Ingot's, and take as long as the compiler
    # itself. The tests of ingot.hpp have it.
    if(INGOT_SANITIZE MATCHES "undefined")
        set(INGOT_SANITIZE_HPP -fsanitize=undefined)
        add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=undefined>)
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        add_compile_options(-Wno-maybe-uninitialized) # false alarms about the instrumentation
    endif()
endif()
if(INGOT_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()
if(INGOT_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "Ingot: INGOT_FUZZ needs clang and libFuzzer (Debian packages clang, libclang-rt-dev).")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(INGOT_CCACHE ccache)
mark_as_advanced(INGOT_CCACHE)
if(INGOT_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${INGOT_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${INGOT_CCACHE})
endif()

# Sets how a target of Ingot is compiled: strict C11, with the functions of the operating system declared.
function(ingot_compile_settings target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:C>:${INGOT_C_WARNINGS}>
        $<$<COMPILE_LANGUAGE:CXX>:${INGOT_CXX_WARNINGS}>
        $<$<BOOL:${INGOT_WERROR}>:-Werror>)
endfunction()

# Optimizes a shared library as a whole, from objects that the static library shares. A load runs right after the driver
# has displaced Ingot's code from the processor's caches, and the shorter code paths then take 12% less time.
include(CheckIPOSupported)
if(INGOT_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT INGOT_SANITIZE AND NOT INGOT_COVERAGE)
    check_ipo_supported(RESULT INGOT_CAN_LTO LANGUAGES C)
endif()
function(ingot_optimize_as_whole objects shared)
    if(INGOT_CAN_LTO)
        target_compile_options(${objects} PRIVATE
            $<$<NOT:$<CONFIG:Debug>>:-flto=auto;-ffat-lto-objects;-fno-semantic-interposition>)
        target_link_options(${shared} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-flto=auto>)
    endif()
endfunction()

# Sets how the files of util/xxh3 are compiled in the directory of a library. On other processors than x86-64, they
# report that they have no code for AVX2 and AVX-512.
include(CheckIncludeFile)
check_include_file(sys/platform/x86.h INGOT_HAS_PLATFORM_X86) # of glibc 2.33 and later, on x86
function(ingot_compile_xxh3)
    set(include "")
    if(NOT INGOT_xxhash_INCLUDE_DIR IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
        set(include -isystem ${INGOT_xxhash_INCLUDE_DIR}) # SHELL: has no effect in the options of a source file
    endif()
    foreach(part IN ITEMS plain avx2 avx512)
        set(options ${include})
        if(INGOT_HAS_PLATFORM_X86 AND part STREQUAL "avx2")
            list(APPEND options -mavx2)
        elseif(INGOT_HAS_PLATFORM_X86 AND part STREQUAL "avx512")
            list(APPEND options -mavx512f)
        endif()
        set_source_files_properties(../util/xxh3/xxh3_${part}.c PROPERTIES COMPILE_OPTIONS "${options}")
    endforeach()
endfunction()

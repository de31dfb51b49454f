# Finds the libraries that Ingot's libraries are linked with. This file is also installed, because an application that
# links a static library of Ingot needs them too.
#
# On Debian 12, libsodium comes without a CMake package, so it is found here and made a target.

include_guard(GLOBAL)

# Defines the target ingot_dep::<name>, or leaves it undefined and adds what is missing to ingot_missing_packages.
function(ingot_find_dependency name header library package)
    if(TARGET ingot_dep::${name})
        return()
    endif()
    find_path(INGOT_${name}_INCLUDE_DIR ${header})
    find_library(INGOT_${name}_LIBRARY ${library})
    mark_as_advanced(INGOT_${name}_INCLUDE_DIR INGOT_${name}_LIBRARY)
    if(NOT INGOT_${name}_INCLUDE_DIR OR NOT INGOT_${name}_LIBRARY)
        set(ingot_missing_packages ${ingot_missing_packages} "${package} (${header}, lib${library})" PARENT_SCOPE)
        return()
    endif()
    add_library(ingot_dep::${name} UNKNOWN IMPORTED)
    set_target_properties(ingot_dep::${name} PROPERTIES
        IMPORTED_LOCATION "${INGOT_${name}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${INGOT_${name}_INCLUDE_DIR}")
endfunction()

# Defines the target ingot_dep::opencl, or leaves it undefined. Does not use FindOpenCL: a project may have its own
# module of that name, which may define other targets and variables than CMake's module does.
function(ingot_find_opencl)
    if(OpenCL_INCLUDE_DIR AND NOT INGOT_opencl_INCLUDE_DIR)
        set(INGOT_opencl_INCLUDE_DIR ${OpenCL_INCLUDE_DIR} CACHE PATH "Of CL/cl.h")
    endif()
    if(OpenCL_LIBRARY AND NOT INGOT_opencl_LIBRARY)
        set(INGOT_opencl_LIBRARY ${OpenCL_LIBRARY} CACHE FILEPATH "The OpenCL loader")
    endif()
    ingot_find_dependency(opencl CL/cl.h OpenCL "ocl-icd-opencl-dev, opencl-c-headers")
endfunction()

# Defines the target ingot_dep::cuda, which has only the toolkit's headers: its libraries are opened at run time.
function(ingot_find_cuda)
    if(TARGET ingot_dep::cuda)
        return()
    endif()
    find_path(INGOT_cuda_INCLUDE_DIR nvJitLink.h
        HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include)
    mark_as_advanced(INGOT_cuda_INCLUDE_DIR)
    foreach(header IN ITEMS cuda.h nvrtc.h nvJitLink.h)
        if(NOT EXISTS "${INGOT_cuda_INCLUDE_DIR}/${header}")
            return()
        endif()
    endforeach()
    add_library(ingot_dep::cuda INTERFACE IMPORTED GLOBAL)
    set_target_properties(ingot_dep::cuda PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${INGOT_cuda_INCLUDE_DIR}")
endfunction()

# Defines targets for the libraries that the remote tiers are linked with, and sets ingot_missing_packages to those that
# are missing.
macro(ingot_find_remote_libraries)
    set(ingot_missing_packages "")
    ingot_find_dependency(hiredis hiredis/hiredis.h hiredis libhiredis-dev)
    ingot_find_dependency(curl curl/curl.h curl libcurl4-openssl-dev)
    ingot_find_dependency(cjson cjson/cJSON.h cjson libcjson-dev)
endmacro()

set(ingot_missing_packages "")
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads QUIET)
ingot_find_dependency(sodium sodium.h sodium libsodium-dev)
ingot_find_dependency(zstd zstd.h zstd libzstd-dev)

# Ingot itself also needs the header of xxHash, whose functions it compiles into its libraries.
if(PROJECT_NAME STREQUAL "ingot")
    find_path(INGOT_xxhash_INCLUDE_DIR xxhash.h)
    mark_as_advanced(INGOT_xxhash_INCLUDE_DIR)
    if(INGOT_xxhash_INCLUDE_DIR)
        include(CheckCSourceCompiles)
        set(CMAKE_REQUIRED_INCLUDES ${INGOT_xxhash_INCLUDE_DIR})
        check_c_source_compiles("
            #define XXH_INLINE_ALL
            #include <xxhash.h>
            int main(int count, char **words)
            {
                return (int)(XXH3_128bits(*words, (size_t)count).low64 + XXH3_64bits(*words, (size_t)count));
            }" INGOT_XXHASH_HAS_INLINE_XXH3)
        unset(CMAKE_REQUIRED_INCLUDES)
    endif()
    if(NOT INGOT_XXHASH_HAS_INLINE_XXH3)
        list(APPEND ingot_missing_packages "libxxhash-dev (xxhash.h of version 0.8 or later)")
    endif()
endif()

if(ingot_missing_packages AND PROJECT_NAME STREQUAL "ingot")
    list(JOIN ingot_missing_packages "\n  " ingot_missing_lines)
    message(FATAL_ERROR "Ingot needs these Debian packages:\n  ${ingot_missing_lines}\n"
        "scripts/install-deps installs all that Ingot, its tests and its benchmarks need.")
endif()

# Writes core/revision.h, which says from which state of the sources a library was built.
#
# ingot_version() returns the revision, and the memo of headers is bound to it. It is determined at every build, not
# only at the configure step. The header changes only if the revision does.
# This file is also the script that writes the header.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    find_package(Git QUIET)
    add_custom_target(ingot_revision
        COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
                -DHEADER=${PROJECT_BINARY_DIR}/generated/core/revision.h -P ${CMAKE_CURRENT_LIST_FILE}
        BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/core/revision.h
        COMMENT "Reading the revision" VERBATIM)
    return()
endif()

cmake_minimum_required(VERSION 3.25)

# If the tree has changes, the revision includes a digest of them, and of files that git does not know.
set(revision release)
set(changes "")
set(failed TRUE)
if(GIT AND EXISTS ${SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE_DIR}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
endif()
if(failed) # a tarball, or a copy in another repository, where git does not know the files
    file(GLOB_RECURSE others RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/src/* ${SOURCE_DIR}/include/* ${SOURCE_DIR}/cmake/*)
else()
    set(revision ${commit})
    execute_process(COMMAND ${GIT} diff --binary --no-ext-diff HEAD -- src include cmake
        WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE changes ERROR_QUIET)
    execute_process(COMMAND ${GIT} ls-files --others --exclude-standard -- src include cmake
        WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE others OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REPLACE "\n" ";" others "${others}")
endif()
foreach(other IN LISTS others)
    file(SHA256 ${SOURCE_DIR}/${other} digest)
    string(APPEND changes "${other} ${digest}\n")
endforeach()
if(NOT changes STREQUAL "")
    string(SHA256 digest "${changes}")
    string(SUBSTRING ${digest} 0 12 digest)
    string(APPEND revision -${digest})
endif()

file(CONFIGURE OUTPUT ${HEADER} CONTENT [[#define INGOT_REVISION "@revision@"
]] @ONLY)

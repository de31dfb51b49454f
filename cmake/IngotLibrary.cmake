# Adds a library of Ingot, shared and static, from the same objects.

# Only a major version may change or remove what applications use (CONTRIBUTING.md, "The interface of 1.x").
set(INGOT_SOVERSION ${PROJECT_VERSION_MAJOR})

# ingot_add_library(<target> OUTPUT_NAME <file name> COMPONENT <package component> SOURCES ... HEADERS ...
#                   [NEEDS <Ingot libraries>...] [PUBLIC_LIBS ...] [PRIVATE_LIBS ...])
#
# Makes <target> (shared) and <target>_static, which are linked with the shared or the static targets of NEEDS. The
# version script is <target>.map next to the CMakeLists.txt. Applications link ingot::<short name>: the shared library,
# or the static one if only that is built.
function(ingot_add_library target)
    cmake_parse_arguments(arg "" "OUTPUT_NAME;COMPONENT" "SOURCES;HEADERS;NEEDS;PUBLIC_LIBS;PRIVATE_LIBS" ${ARGN})
    string(REGEX REPLACE "^ingot_" "" short ${target})
    set(map ${CMAKE_CURRENT_SOURCE_DIR}/${target}.map)

    add_library(${target}_objects OBJECT ${arg_SOURCES})
    ingot_compile_settings(${target}_objects)
    target_compile_options(${target}_objects PRIVATE ${INGOT_LIBRARY_WARNINGS})
    add_dependencies(${target}_objects ingot_revision)
    target_include_directories(${target}_objects PRIVATE
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(${target}_objects PRIVATE ${arg_PUBLIC_LIBS} ${arg_PRIVATE_LIBS})

    add_library(${target}_static STATIC $<TARGET_OBJECTS:${target}_objects>)
    list(TRANSFORM arg_NEEDS APPEND _static OUTPUT_VARIABLE static_needs)
    ingot_library_settings(${target}_static "${static_needs}")
    set_target_properties(${target}_static PROPERTIES EXPORT_NAME ${short}_static)
    add_library(ingot::${short}_static ALIAS ${target}_static)

    if(INGOT_BUILD_SHARED)
        add_library(${target} SHARED $<TARGET_OBJECTS:${target}_objects>)
        ingot_library_settings(${target} "${arg_NEEDS}")
        set_target_properties(${target} PROPERTIES
            EXPORT_NAME ${short} VERSION ${PROJECT_VERSION} SOVERSION ${INGOT_SOVERSION} LINK_DEPENDS ${map})
        target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:-z,now)
        ingot_optimize_as_whole(${target}_objects ${target})
        if(NOT INGOT_SANITIZE AND NOT INGOT_FUZZ) # the executable has the sanitizer's functions
            target_link_options(${target} PRIVATE LINKER:-z,defs)
        endif()
        add_library(ingot::${short} ALIAS ${target})
    else()
        set_target_properties(${target}_static PROPERTIES EXPORT_NAME ${short})
        add_library(ingot::${short} ALIAS ${target}_static)
    endif()
    set_property(GLOBAL APPEND PROPERTY INGOT_COMPONENTS ${arg_COMPONENT})
    set_property(GLOBAL PROPERTY INGOT_COMPONENT_${arg_COMPONENT}_TARGET ${target})
    set_property(GLOBAL PROPERTY INGOT_COMPONENT_${arg_COMPONENT}_HEADERS ${arg_HEADERS})
endfunction()

# Sets what the shared and the static library have in common. A part of ingot_add_library, whose arguments it uses.
macro(ingot_library_settings library needs)
    ingot_compile_settings(${library})
    set_target_properties(${library} PROPERTIES OUTPUT_NAME ${arg_OUTPUT_NAME} LINKER_LANGUAGE C)
    target_include_directories(${library} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library} PUBLIC ${needs} ${arg_PUBLIC_LIBS} PRIVATE ${arg_PRIVATE_LIBS})
endmacro()

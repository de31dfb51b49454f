# Installs headers, libraries, the CMake package with its components, and pkg-config files.
#
# Every library is a component with its own export file, so that find_package can name a component that is missing.

include(CMakePackageConfigHelpers)

set(ingot_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ingot)

function(ingot_install_component component)
    get_property(target GLOBAL PROPERTY INGOT_COMPONENT_${component}_TARGET)
    get_property(headers GLOBAL PROPERTY INGOT_COMPONENT_${component}_HEADERS)
    list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/ingot/)
    install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot COMPONENT ${component})

    set(libraries "")
    if(INGOT_BUILD_SHARED)
        list(APPEND libraries ${target})
    endif()
    if(INGOT_BUILD_STATIC AND TARGET ${target}_static)
        list(APPEND libraries ${target}_static)
    endif()
    install(TARGETS ${libraries} EXPORT ingot-${component}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
    install(EXPORT ingot-${component} NAMESPACE ingot:: FILE ingot-${component}.cmake
        DESTINATION ${ingot_package_dir} COMPONENT ${component})

    list(GET libraries 0 first) # a library of this installation
    get_target_property(ingot_pc_name ${first} OUTPUT_NAME)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${ingot_pc_name}.pc.in ${PROJECT_BINARY_DIR}/${ingot_pc_name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${ingot_pc_name}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()

get_property(ingot_components GLOBAL PROPERTY INGOT_COMPONENTS)
if(CMAKE_INSTALL_LIBDIR MATCHES "^/")
    set(ingot_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH ingot_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" ingot_pc_up "${ingot_pc_up}")
    set(ingot_pc_prefix "\${pcfiledir}/${ingot_pc_up}") # relative, so that an installed copy can be moved
endif()
foreach(component IN LISTS ingot_components)
    ingot_install_component(${component})
endforeach()

# The sources of the conformance suite, for developers of custom backends (see doc/backends.md).
set(ingot_conformance_dir ${CMAKE_INSTALL_DATADIR}/ingot/conformance)
set(suite ${PROJECT_SOURCE_DIR}/tests/conformance)
include(${suite}/IngotConformance.cmake)
install(FILES ${INGOT_CONFORMANCE_SOURCES} ${suite}/children.h ${suite}/device_under_test.h
    ${suite}/objects.h ${suite}/IngotConformance.cmake DESTINATION ${ingot_conformance_dir} COMPONENT conformance)
install(FILES ${PROJECT_SOURCE_DIR}/tests/support/child_process.h ${PROJECT_SOURCE_DIR}/tests/support/objects.h
    DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot/support COMPONENT conformance)

configure_package_config_file(cmake/ingotConfig.cmake.in ${PROJECT_BINARY_DIR}/ingotConfig.cmake
    INSTALL_DESTINATION ${ingot_package_dir} PATH_VARS ingot_conformance_dir NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ingotConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ingotConfig.cmake ${PROJECT_BINARY_DIR}/ingotConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/IngotDependencies.cmake DESTINATION ${ingot_package_dir} COMPONENT core)

# The license, the documents and the examples.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/doc DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
    PATTERN site EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
    PATTERN CMakeLists.txt EXCLUDE)

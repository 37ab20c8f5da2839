# `cpack --config build/CPackConfig.cmake`: Debian packages, one for each component of cmake/install.cmake:
#   fathom          the command, its manual      libfathom0     the shared library
#   fathom-openmpi, fathom-mpich, fathom-metis      modules for ranks, of what is installed
#   libfathom-dev   header, libfathom.a, .pc    fathom-opencl  the OpenCL module, which only recommends drivers
# lintian reports nothing except what cmake/package/*.lintian-overrides explain (tests/package_debian.sh).
set(FATHOM_CONTACT "The fathom developers <fathom@fathom.invalid>" CACHE STRING "Maintainer of the packages")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fathom)
set(CPACK_PACKAGE_CONTACT "${FATHOM_CONTACT}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL command library development)

set(soname ${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME fathom)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS fathom-opencl)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
"trainer of very deep graph neural networks
Trains GCN, GAT, SGC and GCNII up to a thousand layers deep with
differentiable group normalisation, and measures how over-smoothed their
representations, or those of another program, are. Computes on the CPU and,
with fathom-opencl, on any OpenCL device.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libfathom${soname})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS fathom-opencl)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
"very deep graph neural networks, shared library
Training, evaluation, metrics of over-smoothing, and differentiable group
normalisation by itself, for programs in C and every language that calls C.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfathom-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfathom${soname} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
    "opencl-c-headers, libopenblas-dev, libzip-dev, zlib1g-dev, libcjson-dev, libcurl4-openssl-dev, libssl-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"very deep graph neural networks, development files
Headers, static library, pkg-config and CMake files of libfathom. Linking
statically and fathom/opencl.h need the suggested packages.")
if(TARGET fathom_opencl)
    list(APPEND CPACK_COMPONENTS_ALL opencl)
    set(CPACK_DEBIAN_OPENCL_PACKAGE_NAME fathom-opencl)
    set(CPACK_DEBIAN_OPENCL_PACKAGE_SECTION science)
    set(CPACK_DEBIAN_OPENCL_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
    set(CPACK_DEBIAN_OPENCL_PACKAGE_ENHANCES "fathom, libfathom${soname}")
    set(CPACK_COMPONENT_OPENCL_DESCRIPTION
"very deep graph neural networks, OpenCL module
Lets fathom and libfathom compute on OpenCL devices of any vendor. The
driver of the device comes from its own package.")
endif()

set(CPACK_DEBIAN_OPENMPI_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_COMPONENT_OPENMPI_DESCRIPTION
"very deep graph neural networks, Open MPI module
Lets fathom and libfathom train one graph on several processes and hosts
that Open MPI's mpirun starts.")
set(CPACK_DEBIAN_MPICH_PACKAGE_RECOMMENDS mpich)
set(CPACK_COMPONENT_MPICH_DESCRIPTION
"very deep graph neural networks, MPICH module
Lets fathom and libfathom train one graph on several processes and hosts
that MPICH's mpirun starts.")
set(CPACK_COMPONENT_METIS_DESCRIPTION
"very deep graph neural networks, METIS module
Lets fathom and libfathom divide a graph by METIS where one is trained on
several devices: less is exchanged between them.")
foreach(module IN LISTS FATHOM_RANK_MODULES)
    string(TOUPPER ${module} upper)
    list(APPEND CPACK_COMPONENTS_ALL ${module})
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME fathom-${module})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION science)
    set(CPACK_DEBIAN_${upper}_PACKAGE_ENHANCES "fathom, libfathom${soname}")
endforeach()

# Runs ldconfig after the library was installed or removed.
file(WRITE ${PROJECT_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
file(WRITE ${PROJECT_BINARY_DIR}/package/shlibs
    "libfathom ${soname} libfathom${soname} (>= ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    ${PROJECT_BINARY_DIR}/package/triggers ${PROJECT_BINARY_DIR}/package/shlibs)

# Each package contains its licence and changelog.
configure_file(cmake/package/changelog.in ${PROJECT_BINARY_DIR}/package/changelog @ONLY)
if(GZIP)
    execute_process(COMMAND ${GZIP} -9nfk ${PROJECT_BINARY_DIR}/package/changelog)
endif()
file(READ ${PROJECT_SOURCE_DIR}/LICENSE licence)
string(REGEX REPLACE "^MIT License\n\nCopyright[^\n]*\n\n" "" licence "${licence}")
string(REGEX REPLACE "\n+$" "" licence "${licence}")
string(REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REPLACE "\n" "\n " licence "${licence}")
configure_file(cmake/package/copyright.in ${PROJECT_BINARY_DIR}/package/copyright @ONLY)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    install(FILES ${PROJECT_BINARY_DIR}/package/copyright ${PROJECT_BINARY_DIR}/package/changelog.gz
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} OPTIONAL)
    set(overrides ${PROJECT_SOURCE_DIR}/cmake/package/${package}.lintian-overrides)
    if(EXISTS ${overrides})
        install(FILES ${overrides} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${package}
            COMPONENT ${component})
    endif()
endforeach()
include(CPack)

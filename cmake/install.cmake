# `cmake --install build --prefix P`: the command, libfathom shared and static, its header, fathom.pc, fathomConfig.cmake
# and the OpenCL module. Installed files find each other by relative paths, so P may be moved.
# Components: command, library, development, opencl, openmpi, mpich, metis; cmake/package.cmake makes a package of each.
if(CMAKE_LIBRARY_ARCHITECTURE AND NOT DEFINED CMAKE_INSTALL_LIBDIR) # where Debian has it under any prefix
    set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Libraries, below the prefix")
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS fathom_shared EXPORT fathomTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES ${FATHOM_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES include/fathom/fathom.h include/fathom/metrics.h include/fathom/norm.h include/fathom/opencl.h include/fathom/ranks.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fathom COMPONENT development)
if(TARGET fathom_opencl)
    install(TARGETS fathom_opencl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fathom COMPONENT opencl)
endif()
foreach(module IN LISTS FATHOM_RANK_MODULES)
    install(TARGETS fathom_${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fathom COMPONENT ${module})
endforeach()
if(TARGET fathom_command)
    install(TARGETS fathom_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()

# Libraries that programs with libfathom.a link, by name; they are shared, so their own dependencies are not listed.
set(FATHOM_PRIVATE_NAMES ${OPENBLAS_LIBRARIES} ${READERS_LIBRARIES} ${OpenMP_C_LIB_NAMES} m ${CMAKE_DL_LIBS})
list(REMOVE_DUPLICATES FATHOM_PRIVATE_NAMES)
set(FATHOM_PRIVATE_FLAGS ${OPENBLAS_LIBRARY_DIRS} ${READERS_LIBRARY_DIRS})
list(TRANSFORM FATHOM_PRIVATE_FLAGS PREPEND -L)
set(names ${FATHOM_PRIVATE_NAMES})
list(TRANSFORM names PREPEND -l)
list(APPEND FATHOM_PRIVATE_FLAGS ${names})
list(JOIN FATHOM_PRIVATE_FLAGS " " FATHOM_PRIVATE_FLAGS)
set(FATHOM_PRIVATE_DIRS ${OPENBLAS_LIBRARY_DIRS} ${READERS_LIBRARY_DIRS})

# The path from the folder of fathom.pc to the prefix: one ".." per component.
string(REGEX REPLACE "[^/]+" ".." FATHOM_PC_UP "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
configure_file(cmake/package/fathom.pc.in ${PROJECT_BINARY_DIR}/fathom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fathom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

set(FATHOM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fathom)
configure_package_config_file(cmake/package/fathomConfig.cmake.in ${PROJECT_BINARY_DIR}/fathomConfig.cmake
    INSTALL_DESTINATION ${FATHOM_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fathomConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fathomConfig.cmake ${PROJECT_BINARY_DIR}/fathomConfigVersion.cmake
    DESTINATION ${FATHOM_CMAKE_DIR} COMPONENT development)
install(EXPORT fathomTargets NAMESPACE fathom:: DESTINATION ${FATHOM_CMAKE_DIR} COMPONENT development)

# The folders that core/module.c searches for modules: relative to the command, then the absolute path (for programs
# with libfathom.a, which may be anywhere).
set_property(SOURCE ${PROJECT_SOURCE_DIR}/host/core/module.c APPEND PROPERTY COMPILE_DEFINITIONS
    MODULE_FROM_COMMAND="../${CMAKE_INSTALL_LIBDIR}/fathom" MODULE_INSTALLED="${CMAKE_INSTALL_FULL_LIBDIR}/fathom"
    MODULE_PACKAGED="/usr/${CMAKE_INSTALL_LIBDIR}/fathom")

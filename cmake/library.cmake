# The installed library: libfathom.so with a SONAME and only fathom_ symbols, and libfathom.a, one object whose internal
# symbols are hidden, too, so that a static program may define its own `fail` or `json_new`.
# (Tests and the command link the target `fathom`, the same objects with all symbols visible.)
set(FATHOM_OBJECTS $<TARGET_OBJECTS:fathom>)
foreach(isa base avx2 avx512)
    if(TARGET cpu_loops_${isa})
        list(APPEND FATHOM_OBJECTS $<TARGET_OBJECTS:cpu_loops_${isa}>)
    endif()
endforeach()

add_library(fathom_shared SHARED ${FATHOM_OBJECTS})
set_target_properties(fathom_shared PROPERTIES
    OUTPUT_NAME fathom EXPORT_NAME fathom LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(fathom_shared INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
add_library(fathom::fathom ALIAS fathom_shared) # the same name with add_subdirectory as with find_package
target_link_libraries(fathom_shared PRIVATE
    PkgConfig::OPENBLAS PkgConfig::READERS OpenMP::OpenMP_C Threads::Threads m ${CMAKE_DL_LIBS})

set(FATHOM_ARCHIVE ${PROJECT_BINARY_DIR}/static/libfathom.a)
add_custom_command(OUTPUT ${FATHOM_ARCHIVE}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/static
    COMMAND ${CMAKE_LINKER} -r -o ${PROJECT_BINARY_DIR}/static/fathom.o ${FATHOM_OBJECTS}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${PROJECT_BINARY_DIR}/static/fathom.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${FATHOM_ARCHIVE}
    COMMAND ${CMAKE_AR} rcs ${FATHOM_ARCHIVE} ${PROJECT_BINARY_DIR}/static/fathom.o
    DEPENDS ${FATHOM_OBJECTS} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Joining libfathom.a")
add_custom_target(fathom_archive ALL DEPENDS ${FATHOM_ARCHIVE})
# Makefiles know an object only as a file: these targets build it.
add_dependencies(fathom_archive fathom)
foreach(isa base avx2 avx512)
    if(TARGET cpu_loops_${isa})
        add_dependencies(fathom_archive cpu_loops_${isa})
    endif()
endforeach()

# fathom_openmpi.so and fathom_mpich.so: ranks of mpirun, from one source, each with the mpi.h of its MPI. They are loaded
# at run time, under a launcher only: neither the command nor libfathom needs an MPI. Without an mpi.h the module is left
# out; Debian's packages are libopenmpi-dev and libmpich-dev.
set(FATHOM_MPI_MODULES "")
function(add_mpi_module name package)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${package})
    if(NOT ${name}_FOUND)
        message(STATUS "No ${package}: building without fathom_${name}.so (ranks of its mpirun)")
        return()
    endif()
    add_library(fathom_${name} MODULE ${PROJECT_SOURCE_DIR}/host/comm/mpi/mpi.c)
    set_target_properties(fathom_${name} PROPERTIES PREFIX "")
    # --as-needed: mpich.pc also names the libraries that libmpich.so itself needs
    target_link_libraries(fathom_${name} PRIVATE fathom_flags -Wl,--as-needed PkgConfig::${name})
    if(NOT CMAKE_C_FLAGS_DEBUG MATCHES "fsanitize")
        target_link_options(fathom_${name} PRIVATE -Wl,--no-undefined)
    endif()
    set(FATHOM_MPI_MODULES ${FATHOM_MPI_MODULES} ${name} PARENT_SCOPE)
endfunction()

if(FATHOM_MPI)
    add_mpi_module(openmpi ompi-c)
    add_mpi_module(mpich mpich)
endif()

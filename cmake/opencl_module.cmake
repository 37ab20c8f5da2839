# fathom_opencl.so: the OpenCL back end as a module beside the command, loaded at
# run time, so that a machine without an OpenCL loader runs everything on the CPU.
# It gets host services through a table and links no symbol of libfathom;
# --no-undefined checks that at every link without sanitizers.
file(GLOB OPENCL_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/backend/opencl/*.c)
if(NOT OPENCL_SOURCES)
    return()
endif()

pkg_check_modules(OPENCL_LOADER IMPORTED_TARGET OpenCL)
pkg_check_modules(CLBLAST IMPORTED_TARGET clblast)
if(NOT OPENCL_LOADER_FOUND OR NOT CLBLAST_FOUND)
    message(WARNING "No OpenCL headers or no CLBlast found: building without the OpenCL module. Debian's packages are "
        "ocl-icd-opencl-dev, opencl-c-headers and libclblast-dev; `./quickstart build` installs them; "
        "-DFATHOM_OPENCL=OFF says that this is meant.")
    return()
endif()

# cl/embed.cmake writes OUTPUT, a C file with the text of every cl/*.cl and cl/*.h.
file(GLOB KERNEL_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cl/*.cl ${PROJECT_SOURCE_DIR}/cl/*.h)
set(EMBEDDED_KERNELS)
if(EXISTS ${PROJECT_SOURCE_DIR}/cl/embed.cmake)
    set(EMBEDDED_KERNELS ${PROJECT_BINARY_DIR}/generated/ocl_kernels.c)
    add_custom_command(OUTPUT ${EMBEDDED_KERNELS}
        COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}/cl -D OUTPUT=${EMBEDDED_KERNELS}
            -P ${PROJECT_SOURCE_DIR}/cl/embed.cmake
        DEPENDS ${KERNEL_SOURCES} ${PROJECT_SOURCE_DIR}/cl/embed.cmake ${PROJECT_SOURCE_DIR}/host/backend/opencl/ocl_kernels.h
        COMMENT "Embedding the OpenCL kernels" VERBATIM)
endif()

add_library(fathom_opencl MODULE ${OPENCL_SOURCES} ${EMBEDDED_KERNELS})
set_target_properties(fathom_opencl PROPERTIES PREFIX "")
target_compile_definitions(fathom_opencl PRIVATE CL_TARGET_OPENCL_VERSION=120)
target_link_libraries(fathom_opencl PRIVATE fathom_flags PkgConfig::OPENCL_LOADER PkgConfig::CLBLAST m)
if(NOT CMAKE_C_FLAGS_DEBUG MATCHES "fsanitize") # clang leaves the sanitizers' functions to the program
    target_link_options(fathom_opencl PRIVATE -Wl,--no-undefined)
endif()

# What a wheel holds beside python/fathom (pyproject.toml): libfathom, the OpenCL module and the command in one folder,
# where they find each other, and the headers, which the package reads. Wheels have no symbolic links.
add_custom_target(fathom_python DEPENDS fathom_shared fathom_command $<TARGET_NAME_IF_EXISTS:fathom_opencl>)
if(DEFINED SKBUILD)
    install(FILES $<TARGET_FILE:fathom_shared> DESTINATION fathom/lib RENAME libfathom.so COMPONENT python)
    install(PROGRAMS $<TARGET_FILE:fathom_command> DESTINATION fathom/lib COMPONENT python)
    if(TARGET fathom_opencl)
        install(FILES $<TARGET_FILE:fathom_opencl> DESTINATION fathom/lib COMPONENT python)
    endif()
    install(FILES include/fathom/fathom.h include/fathom/metrics.h include/fathom/norm.h include/fathom/ranks.h DESTINATION fathom/include/fathom
        COMPONENT python)
endif()

# compiler.cmake - CMake reads $CC only when a tree is first configured: warns when CC has changed since then.
if(NOT DEFINED CACHE{FATHOM_CC})
    set(FATHOM_CC "$ENV{CC}" CACHE INTERNAL "CC when this tree was configured first")
elseif(NOT "$ENV{CC}" STREQUAL "" AND NOT "$ENV{CC}" STREQUAL "${FATHOM_CC}")
    separate_arguments(words UNIX_COMMAND "$ENV{CC}")
    list(GET words 0 word)
    find_program(asked_compiler NAMES ${word} NO_CACHE)
    get_filename_component(asked_file "${asked_compiler}" REALPATH)
    get_filename_component(used_file "${CMAKE_C_COMPILER}" REALPATH)
    if(NOT asked_file STREQUAL used_file)
        message(WARNING "CC=$ENV{CC} has no effect: this tree is configured with ${CMAKE_C_COMPILER}. To build with "
            "another compiler, remove ${PROJECT_BINARY_DIR} or configure into another folder (-B).")
    endif()
endif()

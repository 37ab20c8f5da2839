# embedded.cmake - puts the bytes of data/*.npz into the library, so that nothing has to be found at run time.
# Included by CMakeLists.txt after the library, and run by itself (cmake -P) to write one C file:
#     cmake -DFROM=data/karate-2.npz -DTO=karate-2.c -DNAME=karate_2 -P embedded.cmake
if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${FROM} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REPEAT "0x..," 20 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    file(WRITE ${TO} "/* made from ${NAME} by data/embedded.cmake */\n#include <stddef.h>\n"
         "extern const unsigned char data_bytes_${NAME}[];\nextern const size_t data_size_${NAME};\n"
         "const unsigned char data_bytes_${NAME}[] = {\n${bytes}};\n"
         "const size_t data_size_${NAME} = sizeof data_bytes_${NAME};\n")
    return()
endif()

foreach(set embedded karate karate-2)
    string(REPLACE - _ name ${set})
    set(from ${PROJECT_SOURCE_DIR}/data/${set}.npz)
    set(to ${PROJECT_BINARY_DIR}/embedded/${set}.c)
    add_custom_command(OUTPUT ${to} DEPENDS ${from} ${CMAKE_CURRENT_LIST_FILE}
        COMMAND ${CMAKE_COMMAND} -DFROM=${from} -DTO=${to} -DNAME=${name} -P ${CMAKE_CURRENT_LIST_FILE}
        COMMENT "Embedding ${set}" VERBATIM)
    target_sources(fathom PRIVATE ${to})
endforeach()

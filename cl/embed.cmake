# Turns the kernels and their headers into one C file of byte arrays, and stops
# the build when a kernel that the list names is not in its file.
#   cmake -D OUT=ocl_sources.c -D LIST=ocl_kernels.h -D DIR=cl -P embed.cmake
file(READ ${LIST} list)
string(REGEX MATCHALL "K\\(([a-z_]+), ([a-z0-9_]+)\\)" entries "${list}")
foreach(entry ${entries})
    string(REGEX REPLACE "K\\(([a-z_]+), ([a-z0-9_]+)\\)" "\\1;\\2" pair "${entry}")
    list(GET pair 0 file)
    list(GET pair 1 kernel)
    if(NOT EXISTS ${DIR}/${file}.cl)
        message(FATAL_ERROR "${LIST} names ${file}.cl, which is not in ${DIR}")
    endif()
    file(READ ${DIR}/${file}.cl text)
    if(NOT text MATCHES "void ${kernel}\\(")
        message(FATAL_ERROR "${LIST} names the kernel ${kernel}, which is not in ${file}.cl")
    endif()
endforeach()

file(GLOB sources ${DIR}/*.h ${DIR}/*.cl)
list(SORT sources)
set(arrays "")
set(table "")
foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    string(MAKE_C_IDENTIFIER ${name} symbol)
    file(READ ${source} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char ${symbol}[] = {\n${bytes}};\n")
    string(APPEND table "    {\"${name}\", ${symbol}, sizeof ${symbol}},\n")
endforeach()
file(WRITE ${OUT} "/* Made by cl/embed.cmake from cl/. */\n#include \"backend/opencl/ocl_sources.h\"\n\n${arrays}
const ocl_source_text ocl_source[] = {\n${table}};
const int ocl_source_count = sizeof ocl_source / sizeof *ocl_source;\n")

# The hot loops of the CPU back end are compiled once per instruction set and
# all linked into libfathom: the binary runs on any x86-64 and selects a table at
# start. CPU_ISA is the suffix of a copy's names; other machines have only base.
file(GLOB LOOP_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/backend/cpu/loops/*.c)
if(NOT LOOP_SOURCES)
    return()
endif()

function(add_cpu_loops isa)
    add_library(cpu_loops_${isa} OBJECT ${LOOP_SOURCES})
    target_compile_definitions(cpu_loops_${isa} PRIVATE CPU_ISA=${isa})
    target_compile_options(cpu_loops_${isa} PRIVATE ${ARGN} -fno-math-errno $<$<CONFIG:Release>:-O3>)
    target_link_libraries(cpu_loops_${isa} PRIVATE fathom_flags OpenMP::OpenMP_C)
    target_sources(fathom PRIVATE $<TARGET_OBJECTS:cpu_loops_${isa}>)
endfunction()

add_cpu_loops(base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    add_cpu_loops(avx2 -mavx2 -mfma)
    add_cpu_loops(avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512)
    file(GLOB CPU_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/backend/cpu/*.c)
    set_source_files_properties(${CPU_SOURCES} PROPERTIES COMPILE_DEFINITIONS FATHOM_ISA_X86=1)
endif()

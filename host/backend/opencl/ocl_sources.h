/* ocl_sources.h - the text of cl/, as cl/embed.cmake writes it into ocl_sources.c. */
#ifndef BACKEND_OPENCL_OCL_SOURCES_H
#define BACKEND_OPENCL_OCL_SOURCES_H

#include <stddef.h>

typedef struct ocl_source_text {
    const char *name;
    const unsigned char *text;
    size_t size;
} ocl_source_text;

extern const ocl_source_text ocl_source[];
extern const int ocl_source_count;

#endif

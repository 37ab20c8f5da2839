/* about.h - sweep.json: the recipe as it was run, the machine and versions, and every command that worked on it. */
#ifndef LAB_ABOUT_H
#define LAB_ABOUT_H

#include <stdint.h>

#include "lab/text.h"

#define LAB_COMMANDS 32
#define LAB_FORMAT 2 /* of the folder of a sweep; 1: ids of cells do not cover the settings of the recipe */

typedef struct lab_about {
    int64_t format;
    char *name, *recipe; /* its name and its text */
    char *version, *system, *processor, *libraries;
    int64_t cores;
    int commands;
    char *command[LAB_COMMANDS], *started[LAB_COMMANDS]; /* the last LAB_COMMANDS */
} lab_about;

/* This machine, now; of the OpenCL back end only if it is in use, since to ask is to load its drivers. */
fathom_status lab_about_here(lab_about *about, bool opencl);
fathom_status lab_about_load(lab_about *about, const char *path);
fathom_status lab_about_save(const lab_about *about, const char *path);
fathom_status lab_about_add_command(lab_about *about, const char *command);
void lab_about_free(lab_about *about);

#endif

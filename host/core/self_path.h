/* self_path.h - the folder of the program or library that contains libfathom's code; see self_path.c. */
#ifndef CORE_SELF_PATH_H
#define CORE_SELF_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* `folder` = its absolute path without links and without a slash at the end ("" is the root folder); false where the
 * system does not report it. */
bool self_folder(char *folder, size_t size);

#endif

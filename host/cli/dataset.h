/* dataset.h - loading the set that the data options of train, eval, metrics and demo name (data_rows.h). */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "cli/data_rows.h"

/* Loads the set and logs its notes. */
fathom_status load_data(fathom_data **data, const char *name, const struct data_choice *choice);
fathom_data_options options_from_choice(const struct data_choice *choice);

#endif

/* dataset.h - loading the set that the data options of train, eval, metrics and demo name (data_rows.h). */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "cli/data_rows.h"

/* Loads the set and says its notes. */
fathom_status load_data(fathom_data **data, const char *name, const struct data_choice *choice);
fathom_data_options options_from_choice(const struct data_choice *choice);

/* "2,708": a count with thousands separated; lives until the next call but seven. */
const char *count_text(int64_t count);
double now_seconds(void);

#endif

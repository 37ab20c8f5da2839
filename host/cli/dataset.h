/* dataset.h - loading the set that the data options of train, eval, metrics and demo name (data_rows.h). */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "cli/data_rows.h"

/* Loads the set, says its notes, and measures the seconds it took. */
fathom_status load_set(data_set **set, double *seconds, const char *data, const struct data_choice *choice);

/* "2,708": a count with thousands separated; lives until the next call but seven. */
const char *count_text(int64_t count);
double now_seconds(void);

#endif

/* report_layers.h - charts over layers from the `layers` of epochs.jsonl, which --layer-metrics writes. */
#ifndef REPORT_REPORT_LAYERS_H
#define REPORT_REPORT_LAYERS_H

#include "report/figures.h"
#include "report/report_run.h"

/* How many epochs have values of layers. */
int64_t report_layers_count(const report_run *run);
/* Draws one chart for each metric, with a line for the first, the last and up to two epochs between. */
fathom_status report_layers_draw(report_figures *figures, const report_run *run);

#endif

/* rank_plan.h - `train --dry-run --ranks R`: what each of R ranks would have and exchange. */
#ifndef CLI_RANK_PLAN_H
#define CLI_RANK_PLAN_H

#include "api/handles.h"

fathom_status plan_ranks(const fathom_train_options *options, const fathom_data *data, const fathom_device *device,
                         int ranks, bool json);

#endif

/* registry.h - parts of registry.c that tests call with synthetic lists. */
#ifndef BACKEND_REGISTRY_H
#define BACKEND_REGISTRY_H

#include "backend/backend.h"

/* Moves aliases after the shown rows and sets `count`; sets `chosen` and `why`. */
void be_merge_aliases(be_list *list);
void be_choose(be_list *list);

/* false: this machine certainly has no GPU and no accelerator. */
bool be_gpu_possible(void);

#endif

/* registry.h - parts of registry.c that tests call with made-up lists. */
#ifndef BACKEND_REGISTRY_H
#define BACKEND_REGISTRY_H

#include "backend/backend.h"

/* Moves aliases behind the shown rows and sets `count`; sets `chosen` and `why`. */
void be_merge_aliases(be_list *list);
void be_choose(be_list *list);

/* false: there is surely no GPU and no accelerator here. */
bool be_card_possible(void);

#endif

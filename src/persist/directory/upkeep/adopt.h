/*
 * adopt.h - entries that the index does not know: those of version 1, and all where the index was lost.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_ADOPT_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_ADOPT_H

#include "persist/directory/layout/account.h"

/* As many buckets as one store looks at. */
#define ADOPT_STEP 64u

/* Under the account's lock: looks at some more buckets, at most ADOPT_STEP, where the index may not be complete. */
void adopt_some(struct account *account, unsigned bucket_count);
/* Begins anew with the first bucket. */
void adopt_begin(struct account *account);

#endif

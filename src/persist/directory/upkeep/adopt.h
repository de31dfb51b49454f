/*
 * adopt.h - adds entries that the index lacks: entries of version 1, or all entries if the index was lost.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_ADOPT_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_ADOPT_H

#include "persist/directory/layout/account.h"

/* The number of buckets that one store examines. */
#define ADOPT_STEP 64u

/* Examines some more buckets, at most ADOPT_STEP, if the index may be incomplete. Requires the account's lock. */
void adopt_some(struct account *account, unsigned bucket_count);
/* Starts again with the first bucket. */
void adopt_begin(struct account *account);

#endif

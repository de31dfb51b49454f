/*
 * adopt.h - adds the index records of entries that have none: entries of version 1 of the format, or all entries if the
 * index was lost.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_ADOPT_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_ADOPT_H

#include "persist/directory/layout/account.h"

/* The number of names in the namespace's directory that are examined when a blob is stored while the index may be
 * incomplete. */
#define ADOPT_STEP 64u

/* If the index may be incomplete, examines the next bucket_count names in the namespace's directory, at most
 * ADOPT_STEP. Requires the account's lock. */
void adopt_some(struct account *account, unsigned bucket_count);
/* Makes the scan start again at the first bucket. */
void adopt_begin(struct account *account);

#endif

/*
 * use.h - what a hit does to its entry: notes the time of use, or removes the entry if it is too old.
 */
#ifndef INGOT_PERSIST_DIRECTORY_USE_H
#define INGOT_PERSIST_DIRECTORY_USE_H

#include "persist/directory/layout/bucket.h"

/* Notes the use of an entry that was found. INGOT_NOT_FOUND: the entry was over the age limit and was removed. */
ingot_status_t use_note(struct directory *directory, const struct bucket *bucket);

#endif

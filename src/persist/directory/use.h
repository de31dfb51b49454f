/*
 * use.h - what a hit does to its entry: its time of last use is noted, or it turns out to be too old.
 */
#ifndef INGOT_PERSIST_DIRECTORY_USE_H
#define INGOT_PERSIST_DIRECTORY_USE_H

#include "persist/directory/layout/bucket.h"

/* Notes the use of an entry that was found. INGOT_NOT_FOUND: it was over the age limit, and is taken away. */
ingot_status_t use_note(struct directory *directory, const struct bucket *bucket);

#endif

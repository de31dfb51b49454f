/*
 * use.h - after a load found an entry, notes the time of use, or removes the entry if it is too old.
 */
#ifndef INGOT_PERSIST_DIRECTORY_USE_H
#define INGOT_PERSIST_DIRECTORY_USE_H

#include "persist/directory/layout/bucket.h"

/* Notes the use of an entry that was found, whose kernel.bin is open. If the entry exceeds the age limit, returns
 * INGOT_NOT_FOUND, and removes the entry if the store is writable and its lock is free. */
ingot_status_t use_note(struct directory *directory, const struct bucket *bucket);

#endif

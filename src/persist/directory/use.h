/*
 * use.h - handles a hit's entry: notes the time of use, or removes the entry if it is too old.
 */
#ifndef INGOT_PERSIST_DIRECTORY_USE_H
#define INGOT_PERSIST_DIRECTORY_USE_H

#include "persist/directory/layout/bucket.h"

/* Notes the use of an entry that was found. Returns INGOT_NOT_FOUND if the entry exceeded the age limit and was
 * removed. */
ingot_status_t use_note(struct directory *directory, const struct bucket *bucket);

#endif

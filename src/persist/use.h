/*
 * use.h - what a hit does to its entry: its time of last use is noted, or it turns out to be too old.
 */
#ifndef INGOT_PERSIST_USE_H
#define INGOT_PERSIST_USE_H

#include "persist/bucket.h"

/* How old a noted use may be before the next one is noted: loads of a warm store write next to nothing. */
#define USE_RESOLUTION_NS (UINT64_C(60) * 1000000000u)

/* After an entry was found. INGOT_NOT_FOUND: it was beyond the age limit, and is taken away. */
ingot_status_t use_note(struct directory *directory, const struct bucket *bucket);

#endif

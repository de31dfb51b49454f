/*
 * savings_file.h - saved.txt: how often a namespace's programs were loaded and compiled, and the time that was saved.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_SAVINGS_FILE_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_SAVINGS_FILE_H

#include "persist/directory/layout/state.h"

/* Adds to the counts of the store's namespace. If that is not possible, changes nothing and returns false. */
bool savings_file_add(const struct directory *directory, const struct savings_counts *more);
/* Reads the counts of a namespace, without a lock. If there are none, sets zeros and returns false. */
bool savings_file_read(const struct directory *directory, const char *name_space, struct savings_counts *counts);

#endif

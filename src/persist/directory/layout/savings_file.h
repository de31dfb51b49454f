/*
 * savings_file.h - reads saved.txt and adds to it: how often a namespace's programs were loaded and compiled, and the
 * time saved.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_SAVINGS_FILE_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_SAVINGS_FILE_H

#include "persist/directory/layout/state.h"

/* Adds to the counts of the store's namespace. Returns false and changes nothing if that is not possible. */
bool savings_file_add(struct directory *directory, const struct savings_counts *more);
/* Reads the counts of a namespace, without a lock. Returns false and sets zeros if there are none. */
bool savings_file_read(const struct directory *directory, const char *name_space, struct savings_counts *counts);

#endif

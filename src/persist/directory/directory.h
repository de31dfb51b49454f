/*
 * directory.h - tells whose a directory store is.
 */
#ifndef INGOT_PERSIST_DIRECTORY_DIRECTORY_H
#define INGOT_PERSIST_DIRECTORY_DIRECTORY_H

#include <ingot/persist.h>
#include <stdbool.h>

/* True for a directory store that serves only files of the effective user, and only if no other user can write them.
 * Loads check all that, except for the namespace's directory, which this checks. */
bool directory_is_own(ingot_storage_t storage);

#endif

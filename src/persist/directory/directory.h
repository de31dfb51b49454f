/*
 * directory.h - opens a directory store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_DIRECTORY_H
#define INGOT_PERSIST_DIRECTORY_DIRECTORY_H

#include <ingot/persist.h>
#include <stdbool.h>

/* Does what ingot_persist_open does, but with the caller's function that maps ids to buckets, so that a test can make
 * different ids share a bucket. */
ingot_status_t directory_open(ingot_storage_t *storage, const ingot_persist_info_t *info,
                              uint64_t (*bucket_of)(size_t id_size, const uint8_t *id));

/* True for a directory store that serves only files of the effective user, and only if no other user can write them.
 * Loads check all that, except for the namespace's directory, which this checks. */
bool directory_is_own(ingot_storage_t storage);

#endif

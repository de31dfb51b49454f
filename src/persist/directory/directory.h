/*
 * directory.h - opening a directory store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_DIRECTORY_H
#define INGOT_PERSIST_DIRECTORY_DIRECTORY_H

#include <ingot/persist.h>

/* Does what ingot_persist_open does; the caller supplies the function from ids to buckets, so that a test can make
 * ids share a bucket. */
ingot_status_t directory_open(ingot_storage_t *storage, const ingot_persist_info_t *info,
                              uint64_t (*bucket_of)(size_t id_size, const uint8_t *id));

#endif

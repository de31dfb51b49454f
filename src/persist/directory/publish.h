/*
 * publish.h - stores one blob in a directory store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_PUBLISH_H
#define INGOT_PERSIST_DIRECTORY_PUBLISH_H

#include "persist/directory/layout/state.h"

/* Stores a blob, in place of one that is already stored if `replaces` is true. Also returns INGOT_SUCCESS if the same
 * blob is already stored, or if another writer was faster. */
ingot_status_t publish_entry(const struct root *root, bool replaces, size_t id_size, const uint8_t *id,
                             size_t blob_size, const uint8_t *blob);

#endif

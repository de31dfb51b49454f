/*
 * publish.h - stores one blob in a directory store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_PUBLISH_H
#define INGOT_PERSIST_DIRECTORY_PUBLISH_H

#include "persist/directory/state.h"

/* Stores a blob. If `replaces` is false, an entry that already has the id stays, and that counts as success. */
ingot_status_t publish_entry(const struct root *root, bool replaces, size_t id_size, const uint8_t *id,
                             size_t blob_size, const uint8_t *blob);

#endif

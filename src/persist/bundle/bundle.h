/*
 * bundle.h - reads the entries of an open bundle.
 */
#ifndef INGOT_PERSIST_BUNDLE_BUNDLE_H
#define INGOT_PERSIST_BUNDLE_BUNDLE_H

#include <ingot/persist.h>
#include <ingot/private/directory.h>

struct bundle;

/* Returns the bundle of a storage, or NULL if the storage is of another kind. */
struct bundle *bundle_of(ingot_storage_t storage);
uint64_t bundle_entry_count(const struct bundle *bundle);
/* Does what ingot_persist_for_each does. */
ingot_status_t bundle_for_each(const struct bundle *bundle, ingot_persist_visit_t visit, void *user);
/* Loads the id and the blob of exactly this entry, without removing the blob's seal. The id is valid as long as
 * *kept. */
ingot_status_t bundle_load_entry(const struct bundle *bundle, const ingot_persist_entry_t *entry, ingot_buffer_t *id,
                                 ingot_buffer_t *kept);

#endif

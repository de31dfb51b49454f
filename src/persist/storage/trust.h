/*
 * trust.h - applies a storage's policy to what it keeps; see ingot/trust.h.
 */
#ifndef INGOT_PERSIST_STORAGE_TRUST_H
#define INGOT_PERSIST_STORAGE_TRUST_H

#include <ingot/persist.h>
#include <stdbool.h>

/* Checks what the storage keeps against its policy. Without a policy, accepts any envelope that can be opened.
 * Returns INGOT_UNTRUSTED, INGOT_BLOB_TRUNCATED or INGOT_BLOB_VERSION on failure. */
ingot_status_t trust_check_kept(ingot_storage_t storage, size_t id_size, const uint8_t *id, const ingot_buffer_t *kept);
/* Makes an info with a policy, for storage_create. *requires: the storage's files may be any user's. NULL means no
 * policy. INGOT_INVALID_ARGUMENTS. */
ingot_status_t trust_make_info(ingot_persist_info_t *info, const ingot_persist_trust_t *trust, bool *requires);
/* Turns what the storage keeps into a blob. Does what seal_open does. */
ingot_status_t trust_open_kept(ingot_storage_t storage, ingot_buffer_t *kept);
/* Requires seals as long as the storage exists, because its files may be any user's. May be called only right after
 * the storage's creation. */
void trust_must_require_seals(ingot_storage_t storage);

/* Does what trust_check_kept does for something that was loaded; counts and reports a refusal, and releases what is
 * refused. */
ingot_status_t trust_check_loaded(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *loaded);

/* Seals a blob that is to be stored, if the storage has a key for that; otherwise leaves *sealed empty. A sealed
 * blob is checked and not sealed again. INGOT_READ_ONLY: a seal is required, but no key can seal. */
ingot_status_t trust_seal(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                          const uint8_t *blob, ingot_buffer_t *sealed);

/* True if a seal is required but no key can seal. */
bool trust_forbids_storing(ingot_storage_t storage);

#endif

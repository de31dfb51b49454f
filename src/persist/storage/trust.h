/*
 * trust.h - applies a storage's trust policy to the blobs that it loads and stores; see ingot/trust.h.
 */
#ifndef INGOT_PERSIST_STORAGE_TRUST_H
#define INGOT_PERSIST_STORAGE_TRUST_H

#include <ingot/persist.h>
#include <stdbool.h>

#include "persist/storage/kinds.h"

/* Makes an info for storage_create with the policy in `trust`, or without a policy if it is NULL. Sets *requires to
 * true if the policy requires seals. Returns INGOT_INVALID_ARGUMENTS if trust's struct_size is not set. */
ingot_status_t trust_make_info(ingot_persist_info_t *info, const ingot_persist_trust_t *trust, bool *requires);

/*
 * The functions below apply the policies of a storage and of all its tiers: the strictest counts.
 */

/* Checks bytes that `storage` just loaded for `asked`, which is this storage or a chain around it, by the policies of
 * `asked`. If one refuses them, counts that in both, reports it, and releases them. */
ingot_status_t trust_check_loaded(ingot_storage_t storage, ingot_storage_t asked, size_t id_size, const uint8_t *id,
                                  ingot_buffer_t *loaded);

/* Seals a blob that is to be stored, if a policy has a key for that; otherwise leaves *sealed empty. If the blob begins
 * like a sealed one, only checks it. Returns INGOT_READ_ONLY if a seal is required, but no key can seal, and
 * INGOT_INVALID_ARGUMENTS if the blob begins like a sealed one, but no policy can check it. */
ingot_status_t trust_seal(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                          const uint8_t *blob, ingot_buffer_t *sealed);
/* Checks kept bytes (see storage.h). Without a policy, accepts plain blobs and any envelope that can be opened. Returns
 * INGOT_UNTRUSTED, INGOT_BLOB_TRUNCATED or INGOT_BLOB_VERSION on failure. */
ingot_status_t trust_check_kept(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t size,
                                const uint8_t *kept);

/* True if a seal is required but no key can seal. */
bool trust_forbids_storing(ingot_storage_t storage);

#endif

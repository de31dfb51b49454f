/*
 * keyring.h - a policy and its keys: what seals blobs, and decides which are accepted.
 *
 * A keyring does not change after its creation, and is reference-counted, so that a storage can exchange it in use.
 */
#ifndef INGOT_PERSIST_TRUST_KEYRING_H
#define INGOT_PERSIST_TRUST_KEYRING_H

#include <ingot/trust.h>
#include <stdbool.h>

struct keyring;

/* Reads all keys. *keyring is NULL for INGOT_PERSIST_TRUST_NONE. Statuses as ingot_persist_set_trust. */
ingot_status_t keyring_create(struct keyring **keyring, const ingot_persist_trust_t *trust,
                              const ingot_allocator_t *allocator);
void keyring_retain(struct keyring *keyring);
void keyring_release(struct keyring *keyring); /* NULL: does nothing */

bool keyring_requires(const struct keyring *keyring);
bool keyring_can_seal(const struct keyring *keyring);

/* Accepts or refuses what a storage keeps for an id. INGOT_UNTRUSTED, with a detail. */
ingot_status_t keyring_check(const struct keyring *keyring, size_t id_size, const uint8_t *id, size_t size,
                             const uint8_t *bytes);
/* Makes an envelope around a blob. The keyring must be able to seal. INGOT_OUT_OF_MEMORY, INGOT_NO_SPACE. */
ingot_status_t keyring_seal(const struct keyring *keyring, size_t id_size, const uint8_t *id, size_t blob_size,
                            const uint8_t *blob, ingot_buffer_t *sealed);

#endif

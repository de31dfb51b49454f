/*
 * keyring.h - holds a storage's keys and trust policy, seals blobs, and decides which blobs are accepted.
 *
 * A keyring does not change after its creation. It is reference-counted, so that a storage can exchange it while other
 * threads use it.
 */
#ifndef INGOT_PERSIST_TRUST_KEYRING_H
#define INGOT_PERSIST_TRUST_KEYRING_H

#include <ingot/trust.h>
#include <stdbool.h>

struct keyring;

/* Reads all keys. Sets *keyring to NULL for INGOT_PERSIST_TRUST_NONE. Returns the statuses of
 * ingot_persist_set_trust. */
ingot_status_t keyring_create(struct keyring **keyring, const ingot_persist_trust_t *trust,
                              const ingot_allocator_t *allocator);
void keyring_retain(struct keyring *keyring);
void keyring_release(struct keyring *keyring); /* does nothing for NULL */

bool keyring_requires(const struct keyring *keyring);
bool keyring_can_seal(const struct keyring *keyring);

/* Checks the bytes that a storage has for an id. If they are refused, sets the error detail and returns
 * INGOT_UNTRUSTED. */
ingot_status_t keyring_check(const struct keyring *keyring, size_t id_size, const uint8_t *id, size_t size,
                             const uint8_t *bytes);
/* Makes a sealed copy of a blob. The keyring must be able to seal. Returns INGOT_OUT_OF_MEMORY or INGOT_NO_SPACE on
 * failure. */
ingot_status_t keyring_seal(const struct keyring *keyring, size_t id_size, const uint8_t *id, size_t blob_size,
                            const uint8_t *blob, ingot_buffer_t *sealed);

#endif

/*
 * key_file.h - reads a key file if it can be trusted, encodes a key as its text, and decodes it; see
 * doc/seal-format.md.
 */
#ifndef INGOT_PERSIST_TRUST_KEY_FILE_H
#define INGOT_PERSIST_TRUST_KEY_FILE_H

#include "persist/trust/key.h"

#define KEY_TEXT_CAPACITY 256u /* longer than any key file */

/* Writes the text of a key. If is_public is set, writes the text of the public key of an Ed25519 pair instead. Returns
 * the size of the text. */
size_t key_text_encode(const struct key *key, bool is_public, char text[KEY_TEXT_CAPACITY]);
/* Decodes the text of a key file, which must match the format exactly. Otherwise returns INGOT_BLOB_CORRUPT or
 * INGOT_BLOB_VERSION; the error detail does not repeat the text. */
ingot_status_t key_text_decode(struct key *key, size_t size, const char *text);
/* Reads a key file. Returns the statuses of ingot_persist_key_describe. */
ingot_status_t key_disk_read(const char *path, struct key *key);

#endif

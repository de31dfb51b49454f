/*
 * key_text.h - the text of a key file; see doc/seal-format.md.
 */
#ifndef INGOT_PERSIST_TRUST_KEY_TEXT_H
#define INGOT_PERSIST_TRUST_KEY_TEXT_H

#include "persist/trust/key.h"

#define KEY_TEXT_CAPACITY 256u /* longer than any key file */

/* Writes the text of a key, of a pair's public key with is_public. Returns its size. */
size_t key_text_encode(const struct key *key, bool is_public, char text[KEY_TEXT_CAPACITY]);
/* Reads a key file, which must match its format exactly. INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION with a detail that does
 * not repeat the text. */
ingot_status_t key_text_decode(struct key *key, size_t size, const char *text);

#endif

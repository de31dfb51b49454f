/*
 * object_key.c - derives the name of an object on a server from its id; see object_key.h.
 */
#include "remote/object/object_key.h"

#include <sodium.h>
#include <string.h>

#include "remote/object/envelope.h"
#include "util/hex.h"
#include "util/little_endian.h"

#define DIGEST_SIZE 32u

void object_key_of(const char *name_space, size_t id_size, const uint8_t *id, char key[OBJECT_KEY_CAPACITY])
{
    static const uint8_t personal[] = {'i', 'n', 'g', 'o', 't', '-', 'r', 'e', 'm', 'o', 't', 'e', '-', 'k', 'e', 'y'};
    crypto_generichash_blake2b_state state;
    uint8_t head[4];
    uint8_t digest[DIGEST_SIZE];

    /* None of these can fail, and none needs sodium_init: see doc/design.md. */
    (void)crypto_generichash_blake2b_init_salt_personal(&state, NULL, 0, DIGEST_SIZE, NULL, personal);
    le_put_u32(head, ENVELOPE_VERSION);
    (void)crypto_generichash_blake2b_update(&state, head, sizeof(head));
    (void)crypto_generichash_blake2b_update(&state, (const uint8_t *)name_space, strlen(name_space) + 1);
    (void)crypto_generichash_blake2b_update(&state, id, id_size);
    (void)crypto_generichash_blake2b_final(&state, digest, sizeof(digest));
    hex_put(key, sizeof(digest), digest);
    key[OBJECT_KEY_HEX_SIZE] = '\0';
}

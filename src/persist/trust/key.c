/*
 * key.c - makes and verifies tags of sealed blobs with a key; see key.h.
 *
 * A signature covers a digest of the header, the id and the blob, because these are in separate places, and libsodium
 * signs and verifies only contiguous messages. Ingot does not call sodium_init, so libsodium runs its portable
 * implementations, which give the same results.
 */
#include "persist/trust/key.h"

#include <ingot/backend.h>
#include <string.h>

#include "util/little_endian.h"

#define SIGNED_SIZE (SEAL_TAGGED_SIZE + SEAL_TAG_SIZE)

static void make_key_id(struct key *key, const uint8_t *identifying)
{
    static const uint8_t domain[16] = "ingot key id";
    uint8_t message[sizeof(domain) + sizeof(uint32_t) + INGOT_PERSIST_KEY_SIZE];
    memcpy(message, domain, sizeof(domain));
    le_put_u32(message + sizeof(domain), key_algorithm(key));
    memcpy(message + sizeof(domain) + sizeof(uint32_t), identifying, INGOT_PERSIST_KEY_SIZE);
    (void)crypto_generichash_blake2b(key->id, sizeof(key->id), message, sizeof(message), NULL, 0);
    sodium_memzero(message, sizeof(message));
}

ingot_status_t key_init(struct key *key, ingot_persist_key_kind_t kind, const uint8_t bytes[INGOT_PERSIST_KEY_SIZE])
{
    memset(key, 0, sizeof(*key));
    if (sodium_is_zero(bytes, INGOT_PERSIST_KEY_SIZE))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "all bytes of a key are zero");
    key->kind = kind;
    switch ((int)kind) {
    case INGOT_PERSIST_KEY_BLAKE2B:
        memcpy(key->secret, bytes, INGOT_PERSIST_KEY_SIZE);
        make_key_id(key, key->secret);
        return INGOT_SUCCESS;
    case INGOT_PERSIST_KEY_ED25519_SECRET:
        (void)crypto_sign_ed25519_seed_keypair(key->public_key, key->secret, bytes);
        make_key_id(key, key->public_key);
        return INGOT_SUCCESS;
    case INGOT_PERSIST_KEY_ED25519_PUBLIC:
        memcpy(key->public_key, bytes, INGOT_PERSIST_KEY_SIZE);
        make_key_id(key, key->public_key);
        return INGOT_SUCCESS;
    default: return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%d is not a kind of key", (int)kind);
    }
}

enum seal_algorithm key_algorithm(const struct key *key)
{
    return key->kind == INGOT_PERSIST_KEY_BLAKE2B ? SEAL_BLAKE2B : SEAL_ED25519;
}

bool key_can_seal(const struct key *key)
{
    return key->kind != INGOT_PERSIST_KEY_ED25519_PUBLIC;
}

static void digest_tagged_blob(const struct tagged *tagged, size_t key_size, const uint8_t *key,
                               uint8_t result[SEAL_TAG_SIZE])
{
    crypto_generichash_blake2b_state state;
    uint8_t id_size[sizeof(uint64_t)];
    le_put_u64(id_size, tagged->id_size);
    (void)crypto_generichash_blake2b_init(&state, key, key_size, SEAL_TAG_SIZE);
    (void)crypto_generichash_blake2b_update(&state, tagged->header, SEAL_TAGGED_SIZE);
    (void)crypto_generichash_blake2b_update(&state, id_size, sizeof(id_size));
    (void)crypto_generichash_blake2b_update(&state, tagged->id, tagged->id_size);
    (void)crypto_generichash_blake2b_update(&state, tagged->blob, tagged->blob_size);
    (void)crypto_generichash_blake2b_final(&state, result, SEAL_TAG_SIZE);
    sodium_memzero(&state, sizeof(state));
}

static void make_signed(const struct tagged *tagged, uint8_t message[SIGNED_SIZE])
{
    memcpy(message, tagged->header, SEAL_TAGGED_SIZE);
    digest_tagged_blob(tagged, 0, NULL, message + SEAL_TAGGED_SIZE);
}

void key_make_tag(const struct key *key, const struct tagged *tagged, uint8_t tag[SEAL_TAG_SIZE])
{
    uint8_t message[SIGNED_SIZE];
    if (key_algorithm(key) == SEAL_BLAKE2B) {
        digest_tagged_blob(tagged, INGOT_PERSIST_KEY_SIZE, key->secret, tag);
        return;
    }
    make_signed(tagged, message);
    (void)crypto_sign_ed25519_detached(tag, NULL, message, sizeof(message), key->secret);
}

bool key_verifies(const struct key *key, const struct tagged *tagged, const uint8_t tag[SEAL_TAG_SIZE])
{
    uint8_t message[SIGNED_SIZE];
    uint8_t expected[SEAL_TAG_SIZE];
    if (key_algorithm(key) == SEAL_ED25519) {
        make_signed(tagged, message);
        return crypto_sign_ed25519_verify_detached(tag, message, sizeof(message), key->public_key) == 0;
    }
    digest_tagged_blob(tagged, INGOT_PERSIST_KEY_SIZE, key->secret, expected);
    const bool is_equal = sodium_memcmp(expected, tag, sizeof(expected)) == 0;
    sodium_memzero(expected, sizeof(expected)); /* an attacker may have chosen the bytes that this tag is valid for */
    return is_equal;
}

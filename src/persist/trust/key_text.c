/*
 * key_text.c - encodes a key as the text of a key file, and decodes it; see key_text.h.
 *
 * Each key has exactly one text. To verify a text, the decoder takes the key's bytes from their place in the text,
 * encodes that key again, and compares the two texts.
 */
#include "persist/trust/key_text.h"

#include <ingot/backend.h>
#include <string.h>

#define HEX_SIZE(size) ((size_t)(size)*2)

static const char first_line[] = "ingot key 1\n";
static const char any_first_line[] = "ingot key ";
static const char *const kind_lines[] = {
    NULL,
    "algorithm: blake2b\nkind: secret\n",
    "algorithm: ed25519\nkind: secret\n",
    "algorithm: ed25519\nkind: public\n",
};
enum { KIND_COUNT = sizeof(kind_lines) / sizeof(kind_lines[0]) };

static char *put(char *at, const char *text)
{
    const size_t size = strlen(text);
    memcpy(at, text, size);
    return at + size;
}

static char *put_hex(char *at, size_t size, const uint8_t *bytes)
{
    (void)sodium_bin2hex(at, HEX_SIZE(size) + 1, bytes, size); /* takes the same time for all keys */
    return at + HEX_SIZE(size);
}

/* Returns the bytes that the text contains. For a secret Ed25519 key, these are the seed, which is the first half of
 * libsodium's secret key. */
static const uint8_t *bytes_of(const struct key *key, ingot_persist_key_kind_t kind)
{
    return kind == INGOT_PERSIST_KEY_ED25519_PUBLIC ? key->public_key : key->secret;
}

size_t key_text_encode(const struct key *key, bool is_public, char text[KEY_TEXT_CAPACITY])
{
    const ingot_persist_key_kind_t kind = is_public ? INGOT_PERSIST_KEY_ED25519_PUBLIC : key->kind;
    char *at = put(text, first_line);
    at = put(at, kind_lines[kind]);
    at = put_hex(put(at, "id: "), sizeof(key->id), key->id);
    at = put_hex(put(at, "\nkey: "), INGOT_PERSIST_KEY_SIZE, bytes_of(key, kind));
    at = put(at, "\n");
    return (size_t)(at - text);
}

static ingot_status_t corrupt(const char *why)
{
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "it is not a key file: %s; \"ingot key create\" makes one", why);
}

/* Returns the kind that the second and third line state, or 0 if they state none. */
static int kind_of(size_t size, const char *text)
{
    const size_t at = sizeof(first_line) - 1;
    for (int kind = 1; kind < KIND_COUNT; ++kind) {
        const size_t length = strlen(kind_lines[kind]);
        if (size - at >= length && memcmp(text + at, kind_lines[kind], length) == 0)
            return kind;
    }
    return 0;
}

static ingot_status_t check_first_line(size_t size, const char *text)
{
    const size_t length = sizeof(any_first_line) - 1;
    if (size >= sizeof(first_line) - 1 && memcmp(text, first_line, sizeof(first_line) - 1) == 0)
        return INGOT_SUCCESS;
    if (size > length && memcmp(text, any_first_line, length) == 0 && text[length] >= '0' && text[length] <= '9' &&
        memchr(text, '\n', size) != NULL)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the key file has a version that this library does not read");
    return corrupt("its first line is not \"ingot key 1\"");
}

ingot_status_t key_text_decode(struct key *key, size_t size, const char *text)
{
    uint8_t bytes[INGOT_PERSIST_KEY_SIZE];
    char expected[KEY_TEXT_CAPACITY];
    size_t decoded = 0;
    ingot_status_t status = check_first_line(size, text);
    if (status != INGOT_SUCCESS)
        return status;
    const int kind = kind_of(size, text);
    if (kind == 0)
        return corrupt("its second and third lines do not name a known algorithm and kind");
    const size_t key_at =
        sizeof(first_line) - 1 + strlen(kind_lines[kind]) + strlen("id: \nkey: ") + HEX_SIZE(SEAL_KEY_ID_SIZE);
    if (size != key_at + HEX_SIZE(sizeof(bytes)) + 1)
        return corrupt("it is too short or too long");
    if (sodium_hex2bin(bytes, sizeof(bytes), text + key_at, HEX_SIZE(sizeof(bytes)), NULL, &decoded, NULL) != 0 ||
        decoded != sizeof(bytes))
        status = corrupt("its key does not consist of hexadecimal digits");
    if (status == INGOT_SUCCESS && key_init(key, (ingot_persist_key_kind_t)kind, bytes) != INGOT_SUCCESS)
        status = corrupt("all bytes of its key are zero");
    if (status == INGOT_SUCCESS &&
        (key_text_encode(key, false, expected) != size || sodium_memcmp(expected, text, size) != 0)) {
        sodium_memzero(key, sizeof(*key));
        status = corrupt("its id is not the key's, or a digit is in upper case");
    }
    sodium_memzero(bytes, sizeof(bytes));
    sodium_memzero(expected, sizeof(expected));
    return status;
}

/*
 * key.c - makes and verifies tags of sealed blobs with a key; reads, creates and describes key files; see key.h.
 *
 * A signature covers a digest of the header, the id and the blob, because these are in separate places, and libsodium
 * signs and verifies only contiguous messages. Ingot does not call sodium_init, so libsodium runs its portable
 * implementations, which give the same results.
 *
 * A secret that another user can read is no longer secret, and a key that another user can write may have been chosen
 * by that user. Such files are refused instead of corrected, because the harm may already be done.
 *
 * Each key has exactly one text. To verify a text, the decoder takes the key's bytes from their place in the text,
 * encodes that key again, and compares the two texts.
 */
#include "persist/trust/key.h"

#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/trust.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>

#include "persist/base/base.h"
#include "util/error_text.h"
#include "util/little_endian.h"
#include "util/struct_size.h"

#define SIGNED_SIZE (SEAL_TAGGED_SIZE + SEAL_TAG_SIZE)
#define READABLE_BY_OTHERS 0077u
#define DETAIL_CAPACITY 256u
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
static const char public_suffix[] = ".pub";

/* ---- tags ---- */

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

/* ---- the text ---- */

static char *put_hex(char *at, size_t size, const uint8_t *bytes)
{
    (void)sodium_bin2hex(at, HEX_SIZE(size) + 1, bytes, size); /* takes the same time for all keys */
    return at + HEX_SIZE(size);
}

size_t key_text_encode(const struct key *key, bool is_public, char text[KEY_TEXT_CAPACITY])
{
    const ingot_persist_key_kind_t kind = is_public ? INGOT_PERSIST_KEY_ED25519_PUBLIC : key->kind;
    char *at = stpcpy(text, first_line);
    at = stpcpy(at, kind_lines[kind]);
    at = put_hex(stpcpy(at, "id: "), sizeof(key->id), key->id);
    /* of a secret Ed25519 key, the seed, which is the first half of libsodium's secret key */
    at = put_hex(stpcpy(at, "\nkey: "), INGOT_PERSIST_KEY_SIZE,
                 kind == INGOT_PERSIST_KEY_ED25519_PUBLIC ? key->public_key : key->secret);
    at = stpcpy(at, "\n");
    return (size_t)(at - text);
}

static ingot_status_t fail_corrupt_key(const char *why)
{
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "it is not a key file: %s; \"ingot key\" makes one", why);
}

static ingot_status_t check_first_line(size_t size, const char *text)
{
    const size_t length = sizeof(any_first_line) - 1;
    if (size >= sizeof(first_line) - 1 && memcmp(text, first_line, sizeof(first_line) - 1) == 0)
        return INGOT_SUCCESS;
    if (size > length && memcmp(text, any_first_line, length) == 0 && text[length] >= '0' && text[length] <= '9' &&
        memchr(text, '\n', size) != NULL)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the key file has a version that this library does not read");
    return fail_corrupt_key("its first line is not \"ingot key 1\"");
}

ingot_status_t key_text_decode(struct key *key, size_t size, const char *text)
{
    uint8_t bytes[INGOT_PERSIST_KEY_SIZE];
    char expected[KEY_TEXT_CAPACITY];
    size_t decoded = 0;
    ingot_status_t status = check_first_line(size, text);
    if (status != INGOT_SUCCESS)
        return status;
    const size_t at = sizeof(first_line) - 1;
    int kind = 1; /* that the second and third line state */
    while (kind < KIND_COUNT &&
           (size - at < strlen(kind_lines[kind]) || memcmp(text + at, kind_lines[kind], strlen(kind_lines[kind])) != 0))
        ++kind;
    if (kind == KIND_COUNT)
        return fail_corrupt_key("its second and third lines do not name a known algorithm and kind");
    const size_t key_at = at + strlen(kind_lines[kind]) + strlen("id: \nkey: ") + HEX_SIZE(SEAL_KEY_ID_SIZE);
    if (size != key_at + HEX_SIZE(sizeof(bytes)) + 1)
        return fail_corrupt_key("it is too short or too long");
    if (sodium_hex2bin(bytes, sizeof(bytes), text + key_at, HEX_SIZE(sizeof(bytes)), NULL, &decoded, NULL) != 0 ||
        decoded != sizeof(bytes))
        status = fail_corrupt_key("its key does not consist of hexadecimal digits");
    if (status == INGOT_SUCCESS && key_init(key, (ingot_persist_key_kind_t)kind, bytes) != INGOT_SUCCESS)
        status = fail_corrupt_key("all bytes of its key are zero");
    if (status == INGOT_SUCCESS &&
        (key_text_encode(key, false, expected) != size || sodium_memcmp(expected, text, size) != 0)) {
        sodium_memzero(key, sizeof(*key));
        status = fail_corrupt_key("its id is not the key's, or a digit is in upper case");
    }
    sodium_memzero(bytes, sizeof(bytes));
    sodium_memzero(expected, sizeof(expected));
    return status;
}

/* ---- reading ---- */

static ingot_status_t check_facts(const struct file_facts *facts, const char *path)
{
    if (!facts->is_file)
        return ingot_set_error_detail(INGOT_UNTRUSTED, "%s is not a file", path);
    return files_are_private(facts, files_user()) || files_are_private(facts, 0)
               ? INGOT_SUCCESS
               : files_untrusted(facts, false, files_user(), path);
}

static ingot_status_t check_secret(const struct file_facts *facts, const char *path)
{
    if (facts->owner != files_user())
        return files_untrusted(facts, false, files_user(), path);
    if ((facts->mode & READABLE_BY_OTHERS) != 0)
        return ingot_set_error_detail(INGOT_UNTRUSTED,
                                      "%s has a secret key and mode %04o, so other users may have read it: create "
                                      "another key, or chmod 0600 if you know that no other user did",
                                      path, (unsigned)facts->mode);
    return INGOT_SUCCESS;
}

static ingot_status_t decode_key_file(struct key *key, size_t size, const char *text, const char *path)
{
    char why[DETAIL_CAPACITY];
    const ingot_status_t status = key_text_decode(key, size, text);
    if (status == INGOT_SUCCESS)
        return status;
    error_text_copy(why, sizeof(why), ingot_last_error_detail());
    return ingot_set_error_detail(status, "%s: %s", path, why);
}

ingot_status_t key_disk_read(const char *path, struct key *key)
{
    struct file_facts facts = {0};
    char text[KEY_TEXT_CAPACITY];
    size_t size = 0;
    const int fd = files_open_path(path);
    if (fd == -ELOOP)
        return ingot_set_error_detail(INGOT_UNTRUSTED, "%s is a link: name the key file itself", path);
    if (fd < 0)
        return files_read_failed(fd, "opening", path);
    int result = files_facts(fd, &facts);
    ingot_status_t status = result == 0 ? check_facts(&facts, path) : INGOT_SUCCESS;
    if (result == 0 && status == INGOT_SUCCESS)
        result = files_read(fd, 0, sizeof(text), text, &size);
    if (result < 0)
        status = files_read_failed(result, "reading", path);
    if (status == INGOT_SUCCESS)
        status = decode_key_file(key, size, text, path);
    if (status == INGOT_SUCCESS && key_can_seal(key)) {
        status = check_secret(&facts, path);
        if (status != INGOT_SUCCESS)
            sodium_memzero(key, sizeof(*key));
    }
    sodium_memzero(text, sizeof(text));
    (void)files_close(fd);
    return status;
}

/* ---- creating ---- */

static ingot_status_t write_key_file(int parent, const char *name, const struct key *key, bool is_public)
{
    char text[KEY_TEXT_CAPACITY];
    const int fd = files_create(parent, name, is_public);
    if (fd == -EEXIST)
        return ingot_set_error_detail(INGOT_READ_ONLY, "%s exists, and a key is not replaced: use another name", name);
    if (fd < 0)
        return files_write_failed(fd, "making", name);
    const size_t size = key_text_encode(key, is_public, text);
    int result = size <= files_size_limit() ? files_write(fd, 0, size, text) : -EFBIG;
    if (result == 0)
        result = files_sync(fd);
    sodium_memzero(text, sizeof(text));
    (void)files_close(fd);
    if (result == 0)
        return INGOT_SUCCESS;
    (void)files_remove(parent, name);
    return files_write_failed(result, "writing", name);
}

/* Writes the public key first. If the secret key cannot be written afterwards, removes the public key, because it is
 * useless alone. Never removes a secret key that was written completely. */
static ingot_status_t write_files(int parent, const char *name, const struct key *key)
{
    char public_name[NAME_MAX + 1];
    const size_t length = strlen(name);
    if (length == 0 || length + sizeof(public_suffix) > sizeof(public_name))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the name of the key file is empty or too long");
    if (key->kind == INGOT_PERSIST_KEY_BLAKE2B)
        return write_key_file(parent, name, key, false);
    memcpy(public_name, name, length);
    memcpy(public_name + length, public_suffix, sizeof(public_suffix));
    ingot_status_t status = write_key_file(parent, public_name, key, true);
    if (status != INGOT_SUCCESS)
        return status;
    status = write_key_file(parent, name, key, false);
    if (status != INGOT_SUCCESS)
        (void)files_remove(parent, public_name);
    return status;
}

static void describe_key(const struct key *key, ingot_persist_key_info_t *info)
{
    ingot_persist_key_info_t known = INGOT_PERSIST_KEY_INFO_INIT;
    known.kind = key->kind;
    memcpy(known.id, key->id, sizeof(known.id));
    memcpy(known.public_key, key->public_key, sizeof(known.public_key));
    (void)STRUCT_WRITE(info, known);
}

/* Fills memory with random bytes from the operating system, after waiting until its generator is ready. */
static ingot_status_t fill_random(size_t size, uint8_t *bytes)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = TEMP_FAILURE_RETRY(getrandom(bytes + done, size - done, 0));
        if (count < 0)
            return ingot_set_error(INGOT_IO_ERROR, errno, "the system provided no random bytes for a key (errno %d)",
                                   errno);
        done += (size_t)count;
    }
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_key_create(const char *path, ingot_persist_key_kind_t kind, ingot_persist_key_info_t *info)
{
    const char *name;
    struct key key;
    uint8_t bytes[INGOT_PERSIST_KEY_SIZE];
    if (path == NULL || path[0] == '\0' || (info != NULL && !STRUCT_IS_SET(info)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "path or info's struct_size is missing");
    if (kind != INGOT_PERSIST_KEY_BLAKE2B && kind != INGOT_PERSIST_KEY_ED25519_SECRET)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a key of kind %d cannot be created", (int)kind);
    const int parent = files_open_parent(path, &name);
    if (parent < 0)
        return files_read_failed(parent, "opening the directory of", path);
    ingot_status_t status = fill_random(sizeof(bytes), bytes);
    if (status == INGOT_SUCCESS)
        status = key_init(&key, kind, bytes);
    if (status == INGOT_SUCCESS) {
        status = write_files(parent, name, &key);
        /* durable, because without the key, no blob that it sealed can be verified */
        const int result = status == INGOT_SUCCESS ? files_sync(parent) : 0;
        if (result < 0)
            status = files_write_failed(result, "syncing the directory of", path);
        if (status == INGOT_SUCCESS && info != NULL)
            describe_key(&key, info);
        sodium_memzero(&key, sizeof(key));
    }
    sodium_memzero(bytes, sizeof(bytes));
    (void)files_close(parent);
    return status;
}

ingot_status_t ingot_persist_key_describe(const char *path, ingot_persist_key_info_t *info)
{
    struct key key;
    const ingot_status_t status = key_disk_read(path, &key);
    if (status == INGOT_SUCCESS)
        describe_key(&key, info);
    sodium_memzero(&key, sizeof(key));
    return status;
}

/*
 * keyring.c - checks and makes the seals of blobs with the keys of a storage; see keyring.h.
 *
 * The keys are on memory pages of their own. If the process has the right to lock memory, these pages are neither
 * swapped out nor dumped. They are erased when they are freed.
 */
#include "persist/trust/keyring.h"

#include <ingot/backend.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/trust/key.h"
#include "persist/trust/seal.h"
#include "util/struct_size.h"

#define MAX_KEYS 16u
#define MAX_PATH 4096u
#define ID_TEXT_SIZE (2 * SEAL_KEY_ID_SIZE + 1)

struct keyring {
    ingot_allocator_t allocator; /* for sealed blobs */
    atomic_size_t references;    /* dropped with acq_rel: the last release sees all earlier uses */
    ingot_persist_trust_policy_t policy;
    size_t count;
    struct key keys[MAX_KEYS];
};

/* ---- the keys ---- */

static ingot_status_t check_keyring_room(const struct keyring *keyring)
{
    return keyring->count < MAX_KEYS
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a storage has at most %u keys", MAX_KEYS);
}

static ingot_status_t add_key_file(struct keyring *keyring, size_t length, const char *path)
{
    char copy[MAX_PATH];
    ingot_status_t status = check_keyring_room(keyring);
    if (status != INGOT_SUCCESS)
        return status;
    if (length >= sizeof(copy))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the path of a key file is too long");
    memcpy(copy, path, length);
    copy[length] = '\0';
    status = key_disk_read(copy, &keyring->keys[keyring->count]);
    keyring->count += status == INGOT_SUCCESS;
    return status;
}

/* Adds the keys of a list of paths that are separated by colons. Empty paths are ignored. */
static ingot_status_t add_key_files(struct keyring *keyring, const char *paths)
{
    ingot_status_t status = INGOT_SUCCESS;
    while (*paths != '\0' && status == INGOT_SUCCESS) {
        const size_t length = strcspn(paths, ":");
        if (length != 0)
            status = add_key_file(keyring, length, paths);
        paths += length + (paths[length] == ':');
    }
    return status;
}

/* Adds the keys that the application's callback returns. The callback may call Ingot, because no lock is held. */
static ingot_status_t add_supplied(struct keyring *keyring, const ingot_persist_trust_t *trust)
{
    for (size_t index = 0;; ++index) {
        ingot_persist_key_t supplied = {.struct_size = sizeof(supplied)};
        ingot_status_t status = trust->next_key(index, &supplied, trust->user);
        if (status == INGOT_SUCCESS)
            status = check_keyring_room(keyring);
        if (status == INGOT_SUCCESS)
            status = key_init(&keyring->keys[keyring->count], supplied.kind, supplied.bytes);
        sodium_memzero(&supplied, sizeof(supplied));
        if (status != INGOT_SUCCESS)
            return status == INGOT_NOT_FOUND ? INGOT_SUCCESS : status;
        ++keyring->count;
    }
}

ingot_status_t keyring_create(struct keyring **keyring, const ingot_persist_trust_t *trust,
                              const ingot_allocator_t *allocator)
{
    *keyring = NULL;
    if (trust->policy == INGOT_PERSIST_TRUST_NONE)
        return INGOT_SUCCESS;
    if (trust->policy != INGOT_PERSIST_TRUST_VERIFY && trust->policy != INGOT_PERSIST_TRUST_REQUIRE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "trust's policy %d is not a valid value",
                                      (int)trust->policy);
    struct keyring *made = memory_map_secret(sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for keys");
    made->allocator = *allocator;
    made->policy = trust->policy;
    atomic_init(&made->references, 1);
    ingot_status_t status = trust->key_files != NULL ? add_key_files(made, trust->key_files) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS && trust->next_key != NULL)
        status = add_supplied(made, trust);
    if (status == INGOT_SUCCESS && made->count == 0)
        status =
            ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a storage that checks seals needs a key: name a key file");
    if (status != INGOT_SUCCESS) {
        keyring_release(made);
        return status;
    }
    *keyring = made;
    return INGOT_SUCCESS;
}

void keyring_retain(struct keyring *keyring)
{
    atomic_fetch_add_explicit(&keyring->references, 1, memory_order_relaxed);
}

void keyring_release(struct keyring *keyring)
{
    if (keyring == NULL || atomic_fetch_sub_explicit(&keyring->references, 1, memory_order_acq_rel) != 1)
        return;
    memory_unmap_secret(keyring, sizeof(*keyring));
}

/* ---- checking and sealing ---- */

static const struct key *find_sealing(const struct keyring *keyring)
{
    for (size_t i = 0; i < keyring->count; ++i)
        if (key_can_seal(&keyring->keys[i]))
            return &keyring->keys[i];
    return NULL;
}

bool keyring_requires(const struct keyring *keyring)
{
    return keyring->policy == INGOT_PERSIST_TRUST_REQUIRE;
}

bool keyring_can_seal(const struct keyring *keyring)
{
    return find_sealing(keyring) != NULL;
}

/* Finds the key that an envelope names. Key ids are not secret, so memcmp may take different times for them. */
static const struct key *find_named_key(const struct keyring *keyring, const uint8_t *envelope)
{
    for (size_t i = 0; i < keyring->count; ++i)
        if ((uint32_t)key_algorithm(&keyring->keys[i]) == seal_algorithm(envelope) &&
            memcmp(keyring->keys[i].id, envelope + SEAL_AT_KEY_ID, SEAL_KEY_ID_SIZE) == 0)
            return &keyring->keys[i];
    return NULL;
}

static ingot_status_t refuse_sealed_blob(const uint8_t *envelope, const char *why)
{
    char id[ID_TEXT_SIZE];
    (void)sodium_bin2hex(id, sizeof(id), envelope + SEAL_AT_KEY_ID, SEAL_KEY_ID_SIZE);
    return ingot_set_error_detail(INGOT_UNTRUSTED, "a sealed blob is refused: key %s %s", id, why);
}

ingot_status_t keyring_check(const struct keyring *keyring, size_t id_size, const uint8_t *id, size_t size,
                             const uint8_t *bytes)
{
    if (!seal_is(size, bytes))
        return keyring_requires(keyring)
                   ? ingot_set_error_detail(INGOT_UNTRUSTED, "a blob without a seal is refused: the storage requires "
                                                             "seals (ingot sign adds them)")
                   : INGOT_SUCCESS;
    if (seal_examine(size, bytes) != INGOT_SUCCESS)
        return ingot_set_error_detail(INGOT_UNTRUSTED, "a sealed blob is refused: its seal is incomplete, or of a "
                                                       "version that this library does not read");
    const struct key *key = find_named_key(keyring, bytes);
    if (key == NULL)
        return refuse_sealed_blob(bytes, "is not one of the storage's keys");
    const struct tagged tagged = {bytes, id_size, id, size - SEAL_SIZE, bytes + SEAL_SIZE};
    return key_verifies(key, &tagged, bytes + SEAL_AT_TAG)
               ? INGOT_SUCCESS
               : refuse_sealed_blob(bytes, "did not seal this blob for this id");
}

ingot_status_t keyring_seal(const struct keyring *keyring, size_t id_size, const uint8_t *id, size_t blob_size,
                            const uint8_t *blob, ingot_buffer_t *sealed)
{
    const struct key *key = find_sealing(keyring);
    uint8_t *bytes;
    if (blob_size > SIZE_MAX - SEAL_SIZE)
        return ingot_set_error_detail(INGOT_NO_SPACE, "a blob of %zu bytes is too large to be sealed", blob_size);
    const ingot_status_t status = memory_make_buffer(&keyring->allocator, SEAL_SIZE + blob_size, sealed, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    seal_begin(bytes, key_algorithm(key), key->id);
    memcpy(bytes + SEAL_SIZE, blob, blob_size);
    const struct tagged tagged = {bytes, id_size, id, blob_size, blob};
    key_make_tag(key, &tagged, bytes + SEAL_AT_TAG);
    return INGOT_SUCCESS;
}

/*
 * trust.c - applies a storage's trust policy to the blobs that it loads and stores; see trust.h.
 *
 * An operation takes a reference to the keyring under the storage's lock, and checks and seals without the lock. A
 * storage without a keyring takes no lock.
 */
#include "persist/storage/trust.h"

#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/state.h"
#include "persist/trust/seal.h"
#include "util/struct_size.h"

static void forget_nothing(void *user)
{
    (void)user; /* nothing to forget: whatever keyring the storage has, it holds a reference to that keyring */
}

/* Returns a reference to the keyring, or NULL if there is no policy. */
static struct keyring *take_keyring(ingot_storage_t storage)
{
    if (!atomic_load_explicit(&storage->has_keyring, memory_order_acquire)) /* pairs with the release below */
        return NULL;
    process_lock_take(&storage->settings_lock, forget_nothing, NULL);
    struct keyring *keyring = storage->keyring;
    if (keyring != NULL)
        keyring_retain(keyring);
    process_lock_give(&storage->settings_lock);
    return keyring;
}

static void exchange_keyring(ingot_storage_t storage, struct keyring *keyring)
{
    process_lock_take(&storage->settings_lock, forget_nothing, NULL);
    struct keyring *before = storage->keyring;
    storage->keyring = keyring;
    atomic_store_explicit(&storage->has_keyring, keyring != NULL, memory_order_release);
    process_lock_give(&storage->settings_lock);
    keyring_release(before);
}

ingot_status_t trust_check_kept(ingot_storage_t storage, size_t id_size, const uint8_t *id, const ingot_buffer_t *kept)
{
    struct keyring *keyring = take_keyring(storage);
    if (keyring == NULL)
        return seal_is(kept->size, kept->bytes) ? seal_examine(kept->size, kept->bytes) : INGOT_SUCCESS;
    const ingot_status_t status = keyring_check(keyring, id_size, id, kept->size, kept->bytes);
    keyring_release(keyring);
    return status;
}

ingot_status_t trust_check_loaded(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *loaded)
{
    const ingot_status_t status = trust_check_kept(storage, id_size, id, loaded);
    if (status == INGOT_SUCCESS)
        return status;
    const struct ingot_storage *listener = storage->listener != NULL ? storage->listener : storage;
    const size_t size = loaded->size;
    const uint64_t now_ns = files_steady_clock_ns();
    struct kept_error why;
    kept_error_save(&why); /* the callback may call Ingot, which changes the thread's error */
    /* release: a reader of this count also sees the hit that the store counted before; see storage_fill_stats */
    atomic_fetch_add_explicit(&storage->distrusted, 1, memory_order_release);
    memory_release_buffer(loaded);
    events_tell(listener->on_event, listener->on_event_user, INGOT_EVENT_STORAGE_DEGRADED, status, size, now_ns, "",
                why.text);
    kept_error_restore(&why);
    return status;
}

ingot_status_t trust_seal(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                          const uint8_t *blob, ingot_buffer_t *sealed)
{
    struct keyring *keyring = take_keyring(storage);
    ingot_status_t status = INGOT_SUCCESS;
    if (keyring == NULL)
        return status;
    if (seal_is(blob_size, blob))
        status = keyring_check(keyring, id_size, id, blob_size, blob);
    else if (keyring_can_seal(keyring))
        status = keyring_seal(keyring, id_size, id, blob_size, blob, sealed);
    else if (keyring_requires(keyring))
        status = ingot_set_error_detail(INGOT_READ_ONLY, "the storage requires seals, and has no secret key to seal "
                                                         "what it stores");
    keyring_release(keyring);
    return status;
}

bool trust_forbids_storing(ingot_storage_t storage)
{
    struct keyring *keyring = take_keyring(storage);
    const bool forbids = keyring != NULL && keyring_requires(keyring) && !keyring_can_seal(keyring);
    keyring_release(keyring);
    return forbids;
}

ingot_status_t trust_make_info(ingot_persist_info_t *info, const ingot_persist_trust_t *trust, bool *requires)
{
    ingot_persist_trust_t known = INGOT_PERSIST_TRUST_INIT;
    *info = (ingot_persist_info_t)INGOT_PERSIST_INFO_INIT;
    if (trust != NULL && !STRUCT_READ_OVER(known, trust))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "trust's struct_size is missing");
    info->trust_policy = known.policy;
    info->key_files = known.key_files;
    info->next_key = known.next_key;
    info->next_key_user = known.user;
    *requires = known.policy == INGOT_PERSIST_TRUST_REQUIRE;
    return INGOT_SUCCESS;
}

ingot_status_t trust_open_kept(ingot_storage_t storage, ingot_buffer_t *kept)
{
    return seal_open(&storage->allocator, kept);
}

void trust_must_require_seals(ingot_storage_t storage)
{
    storage->must_require_seals = true;
}

ingot_status_t ingot_persist_set_trust(ingot_storage_t storage, const ingot_persist_trust_t *trust)
{
    ingot_persist_trust_t known = INGOT_PERSIST_TRUST_INIT;
    struct keyring *keyring = NULL;
    if (storage == NULL || (trust != NULL && !STRUCT_READ_OVER(known, trust)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or trust's struct_size is missing");
    if (storage->must_require_seals && known.policy != INGOT_PERSIST_TRUST_REQUIRE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the storage was opened for files of any user, so it "
                                                               "must require seals; open it again to change that");
    const ingot_status_t status = keyring_create(&keyring, &known, &storage->allocator);
    if (status == INGOT_SUCCESS)
        exchange_keyring(storage, keyring);
    return status;
}

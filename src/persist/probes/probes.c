/*
 * probes.c - keeps probes as entries of a directory store that only this user can write; see doc/probes-format.md.
 *
 * They decide which program is found, so they go past the operations of storage.h, which other storages and other users
 * can reach: they are loaded from and stored to the directory store itself, without seals and without promotion.
 */
#include "persist/probes/probes.h"

#include <ingot/backend.h>

#include "persist/storage/kinds.h"
#include "persist/storage/storage.h"

static void release_weakly(void *user)
{
    storage_release_weakly(user);
}

/* Returns the store that keeps the probes, and a reference to the storage that it belongs to, which the caller
 * releases, in *storage. Returns NULL, with the reference, if probes are not used now. */
static ingot_storage_t follow(ingot_storage_t weak, ingot_storage_t *storage)
{
    *storage = storage_follow(weak);
    if (*storage == NULL || !storage_is_on(*storage))
        return NULL;
    ingot_storage_t store = storage_stored_to(*storage);
    return storage_is_on(store) && directory_is_own(store) ? store : NULL;
}

static ingot_status_t load_probes(void *user, size_t id_size, const uint8_t *id, ingot_buffer_t *content)
{
    ingot_storage_t storage;
    ingot_storage_t store = follow(user, &storage);
    ingot_status_t status = INGOT_NOT_FOUND;
    if (store != NULL)
        status = storage_ops(store)->load(storage_self(store, STORAGE_DIRECTORY), id_size, id, content);
    ingot_storage_release(storage);
    return status;
}

/* A failure costs time only, and the store's events tell it. */
static void store_probes(void *user, size_t id_size, const uint8_t *id, size_t size, const uint8_t *content)
{
    ingot_storage_t storage;
    ingot_storage_t store = follow(user, &storage);
    if (store != NULL && storage_takes_blobs(store))
        (void)storage_ops(store)->store(storage_self(store, STORAGE_DIRECTORY), id_size, id, size, content);
    ingot_storage_release(storage);
}

ingot_status_t probes_keep(ingot_storage_t storage, ingot_header_memo_t memo)
{
    static const ingot_probes_keeper_t keeper = {load_probes, store_probes, release_weakly};
    ingot_storage_t store = storage_stored_to(storage);
    if (storage_self(store, STORAGE_DIRECTORY) == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "the storage is neither a directory store nor a chain that stores to one");
    if (!directory_is_own(store))
        return ingot_set_error_detail(INGOT_UNTRUSTED, "the store belongs to another user, who could decide which "
                                                       "programs are found");
    storage_retain_weakly(storage);
    return ingot_header_memo_keep(memo, &keeper, storage);
}

ingot_status_t ingot_persist_remember_headers(ingot_storage_t storage, ingot_context_t context)
{
    if (context == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context is NULL");
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    ingot_header_memo_t memo = ingot_context_get_header_memo(context);
    return memo != NULL ? probes_keep(storage, memo) : INGOT_SUCCESS;
}

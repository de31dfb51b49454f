/*
 * behind.c - opens a remote tier behind a storage of this machine, so that the two form a chain.
 */
#include <ingot/backend.h>
#include <ingot/remote.h>

static ingot_status_t make_chain(ingot_storage_t *storage, ingot_storage_t local, ingot_storage_t remote)
{
    const ingot_storage_t tiers[] = {local, remote};
    const ingot_status_t status =
        ingot_persist_set_write_through(remote, 1); /* harmless for a read-only tier, which stores nothing anyway */
    return status == INGOT_SUCCESS ? ingot_persist_chain(storage, 2, tiers) : status;
}

ingot_status_t ingot_remote_open_behind(ingot_storage_t *storage, ingot_storage_t local,
                                        const ingot_remote_info_t *info)
{
    ingot_storage_t remote = NULL;
    if (storage == NULL || local == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or local is NULL");
    ingot_status_t status = ingot_remote_open(&remote, info);
    if (status != INGOT_SUCCESS)
        return status;
    status = make_chain(storage, local, remote);
    ingot_storage_release(remote); /* the chain has its own reference */
    return status;
}

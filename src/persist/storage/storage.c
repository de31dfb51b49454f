/*
 * storage.c - a storage: a table of operations, a count of references, and what works for it; see storage.h.
 */
#include "persist/storage/storage.h"

#include <ingot/backend.h>

#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "util/struct_size.h"

static ingot_status_t copy_ops(ingot_storage_ops_t *copy, const ingot_storage_ops_t *ops)
{
    if (!STRUCT_READ(*copy, ops))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a storage needs a table of operations with its size");
    if (copy->load == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a storage's load operation is required");
    return INGOT_SUCCESS;
}

static ingot_status_t init_parts(struct ingot_storage *storage)
{
    ingot_status_t status = store_queue_init(&storage->queue);
    if (status != INGOT_SUCCESS)
        return status;
    status = process_lock_init(&storage->backends_lock);
    if (status != INGOT_SUCCESS)
        goto no_backends;
    status = recorder_init(&storage->recorder);
    if (status != INGOT_SUCCESS)
        goto no_recorder;
    status = prewarm_list_init(&storage->prewarms);
    if (status != INGOT_SUCCESS)
        goto no_prewarms;
    return INGOT_SUCCESS;

no_prewarms:
    recorder_fini(&storage->recorder);
no_recorder:
    process_lock_fini(&storage->backends_lock);
no_backends:
    store_queue_fini(storage);
    return status;
}

ingot_status_t storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self,
                              const ingot_allocator_t *allocator, ingot_persist_store_mode_t store_mode)
{
    ingot_storage_ops_t copy;
    const ingot_status_t status = copy_ops(&copy, ops);
    if (status != INGOT_SUCCESS)
        return status;
    struct ingot_storage *made = memory_allocate(allocator, sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a storage");
    *made = (struct ingot_storage){.ops = copy, .self = self, .allocator = *allocator};
    atomic_init(&made->store_mode, store_mode);
    atomic_init(&made->references, 1);
    const ingot_status_t initialized = init_parts(made);
    if (initialized != INGOT_SUCCESS) {
        memory_free(allocator, made, sizeof(*made));
        return initialized;
    }
    *storage = made;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self)
{
    ingot_allocator_t allocator;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    (void)memory_init(&allocator, NULL);
    return storage_create(storage, ops, self, &allocator, INGOT_PERSIST_STORE_AUTO);
}

ingot_status_t ingot_storage_retain(ingot_storage_t storage)
{
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    atomic_fetch_add_explicit(&storage->references, 1, memory_order_relaxed);
    return INGOT_SUCCESS;
}

bool storage_retain_if_alive(ingot_storage_t storage)
{
    size_t count = atomic_load_explicit(&storage->references, memory_order_relaxed);
    while (count != 0 && !atomic_compare_exchange_weak_explicit(&storage->references, &count, count + 1,
                                                                memory_order_relaxed, memory_order_relaxed)) {
    }
    return count != 0;
}

void ingot_storage_release(ingot_storage_t storage)
{
    struct kept_error kept;
    if (storage == NULL || atomic_fetch_sub_explicit(&storage->references, 1, memory_order_acq_rel) != 1)
        return;
    kept_error_save(&kept); /* what is stored now may fail; events tell of that */
    store_queue_fini(storage);
    recorder_fini(&storage->recorder);
    prewarm_list_fini(&storage->prewarms);
    process_lock_fini(&storage->backends_lock);
    if (storage->ops.destroy != NULL)
        storage->ops.destroy(storage->self);
    const ingot_allocator_t allocator = storage->allocator;
    memory_free(&allocator, storage, sizeof(*storage));
    kept_error_restore(&kept);
}

static ingot_status_t check_id(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    if (storage == NULL || id == NULL || id_size == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or id is missing or empty");
    return INGOT_SUCCESS;
}

ingot_status_t ingot_storage_load(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    const ingot_status_t status = check_id(storage, id_size, id);
    if (status != INGOT_SUCCESS)
        return status;
    if (blob == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "blob is NULL");
    if (!storage_is_on(storage))
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the storage is off");
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    const ingot_status_t result = storage->ops.load(storage->self, id_size, id, &loaded);
    directory_count(result == INGOT_SUCCESS ? &storage->counters.hits : &storage->counters.misses, 1);
    if (result == INGOT_SUCCESS)
        *blob = loaded;
    else if (result != INGOT_NOT_FOUND)
        directory_count_failure(&storage->counters, result);
    return result;
}

ingot_status_t ingot_storage_store(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                                   const uint8_t *blob)
{
    const ingot_status_t status = check_id(storage, id_size, id);
    if (status != INGOT_SUCCESS)
        return status;
    if (blob == NULL || blob_size == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a blob that is to be stored is missing or empty");
    if (storage->ops.store == NULL)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the storage has no store operation");
    if (!storage_is_on(storage))
        return ingot_set_error_detail(INGOT_READ_ONLY, "the storage is off");
    const ingot_status_t result = storage->ops.store(storage->self, id_size, id, blob_size, blob);
    if (result == INGOT_SUCCESS)
        directory_count(&storage->counters.stores, 1);
    else
        directory_count_failure(&storage->counters, result);
    return result;
}

ingot_status_t ingot_storage_remove(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    const ingot_status_t status = check_id(storage, id_size, id);
    if (status != INGOT_SUCCESS)
        return status;
    if (storage->ops.remove == NULL)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the storage has no remove operation");
    return storage->ops.remove(storage->self, id_size, id);
}

/*
 * blobs.c - loads, stores and removes blobs, in storages that keep blobs themselves and in chains of others.
 *
 * A chain asks its tiers in order. A failure of a tier counts as a miss of that tier. If no other tier has the blob,
 * the load returns the first failure. If a lower tier has the blob, the load also promotes it: it stores a copy in the
 * tiers above before it returns. That takes little time compared with a load from a lower tier, and needs neither a
 * queue nor a thread. A chain stores in its first writable tier, and in those that store all that their chain stores.
 *
 * Promotions do not undo what is stored or removed at the same time: if a blob was changed through the chain since the
 * load began, the copy is stale and is not stored. A change waits for a promotion of the same id that is storing
 * already, and then replaces or removes its copy. The tiers do not change, so they need no lock. The lock of the list
 * of uses is held for a few instructions.
 */
#include "persist/storage/storage.h"

#include <ingot/backend.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/storage/state.h"
#include "persist/trust/seal.h"
#include "util/entry_kind.h"
#include "util/error_text.h"
#include "util/thread.h"

#define DETAIL_CAPACITY 256u

ingot_status_t ingot_persist_chain(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers)
{
    static const ingot_storage_ops_t ops = {.struct_size = sizeof(ops)};
    if (storage == NULL || tiers == NULL || tier_count == 0 || tier_count > STORAGE_MAX_TIERS)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "storage or tiers is NULL, or tier_count is not 1 to 16");
    for (size_t i = 0; i < tier_count; ++i)
        if (tiers[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "tier %zu is NULL", i);
    const ingot_status_t status = storage_create(storage, STORAGE_OTHER, &ops, NULL, &memory_c_allocator, NULL, false);
    if (status != INGOT_SUCCESS)
        return status;
    struct ingot_storage *chain = *storage;
    for (; chain->tier_count < tier_count; ++chain->tier_count) {
        ingot_storage_t tier = tiers[chain->tier_count];
        ingot_storage_retain(tier);
        chain->tiers[chain->tier_count] = tier;
        if (chain->listener == NULL)
            chain->listener = tier->on_event != NULL ? tier : tier->listener;
        if (chain->model == NULL && storage_keeps_blobs(tier))
            chain->model = tier;
    }
    return INGOT_SUCCESS;
}

/* ---- uses of blobs ---- */

enum chain_use_kind { CHAIN_LOAD, CHAIN_PROMOTION, CHAIN_CHANGE };

/* What a thread does with a blob of a chain, in the thread's stack. The chain's uses_lock guards all fields. */
struct chain_use {
    struct chain_use *next;
    enum chain_use_kind kind;
    bool is_stale; /* of a load: its blob must not be promoted */
    pthread_t thread;
    size_t id_size;
    const uint8_t *id;
};

/* Finds the next use of another thread, of the same id and this kind, in the rest of the list. Requires the lock. */
static struct chain_use *find_use(struct chain_use *first, const struct chain_use *own, enum chain_use_kind kind)
{
    struct chain_use *use = first;
    while (use != NULL && (use->kind != kind || use->id_size != own->id_size ||
                           memcmp(use->id, own->id, own->id_size) != 0 || pthread_equal(use->thread, own->thread)))
        use = use->next;
    return use;
}

static void add_use(ingot_storage_t chain, struct chain_use *use, enum chain_use_kind kind)
{
    use->kind = kind;
    use->next = chain->uses;
    chain->uses = use;
}

/* Begins a store or a removal, possibly after a wait for promotions. */
static void chain_begin_change(ingot_storage_t chain, struct chain_use *use, size_t id_size, const uint8_t *id)
{
    *use = (struct chain_use){.thread = pthread_self(), .id_size = id_size, .id = id};
    pthread_mutex_lock(&chain->uses_lock);
    add_use(chain, use, CHAIN_CHANGE);
    struct chain_use *load = chain->uses;
    for (; (load = find_use(load, use, CHAIN_LOAD)) != NULL; load = load->next)
        load->is_stale = true;
    while (find_use(chain->uses, use, CHAIN_PROMOTION) != NULL)
        thread_wait(&chain->uses_changed, &chain->uses_lock, NS_NEVER);
    pthread_mutex_unlock(&chain->uses_lock);
}

/* Makes a load's use that of a promotion. Returns false if the blob must not be promoted. */
static bool chain_begin_promotion(ingot_storage_t chain, struct chain_use *use)
{
    pthread_mutex_lock(&chain->uses_lock);
    const bool may_promote = !use->is_stale;
    if (may_promote)
        use->kind = CHAIN_PROMOTION;
    pthread_mutex_unlock(&chain->uses_lock);
    return may_promote;
}

/* Ends a use of any kind. */
static void chain_end_use(ingot_storage_t chain, struct chain_use *use)
{
    pthread_mutex_lock(&chain->uses_lock);
    struct chain_use **at = &chain->uses;
    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
    if (use->kind == CHAIN_PROMOTION)
        pthread_cond_broadcast(&chain->uses_changed);
    pthread_mutex_unlock(&chain->uses_lock);
}

/* ---- loads ---- */

/* Stores a blob in one more tier of a chain. Reports a failure, which is not the caller's. */
static void copy_to_tier(ingot_storage_t chain, size_t tier, bool replaces, const char *what, size_t id_size,
                         const uint8_t *id, size_t size, const uint8_t *bytes)
{
    char reason[DETAIL_CAPACITY];
    const ingot_status_t status = storage_store_kept(chain->tiers[tier], replaces, id_size, id, size, bytes);
    if (status == INGOT_SUCCESS || status == INGOT_READ_ONLY)
        return;
    (void)snprintf(reason, sizeof(reason), "a blob was not %s tier %zu: %s", what, tier, ingot_last_error_detail());
    storage_tell(chain, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(), "", reason);
}

/* Asks one tier after another, and stores what one has in those in front of it that take blobs. What such a tier has
 * stored meanwhile stays; only a blob that a policy refuses is replaced (`refused` has a bit for each such tier). A
 * directory store has removed a damaged entry, and one that it failed to read may be newer. If a tier cannot store it,
 * the next load that finds the blob in a lower tier tries again. If a policy refuses a tier's blob, asks the next tier.
 */
static ingot_status_t load_from_tiers(ingot_storage_t chain, ingot_storage_t asked, size_t id_size, const uint8_t *id,
                                      ingot_buffer_t *kept)
{
    struct chain_use use;
    ingot_status_t reason = INGOT_NOT_FOUND;
    ingot_status_t status = INGOT_NOT_FOUND;
    unsigned refused = 0;
    char detail[DETAIL_CAPACITY] = "no tier has the blob";
    use = (struct chain_use){.thread = pthread_self(), .id_size = id_size, .id = id};
    pthread_mutex_lock(&chain->uses_lock);
    use.is_stale = find_use(chain->uses, &use, CHAIN_CHANGE) != NULL;
    add_use(chain, &use, CHAIN_LOAD);
    pthread_mutex_unlock(&chain->uses_lock);
    for (size_t i = 0; i < chain->tier_count && status != INGOT_SUCCESS; ++i) {
        status = storage_load_kept(chain->tiers[i], asked, id_size, id, kept);
        const bool may_promote = status == INGOT_SUCCESS && i != 0 && chain_begin_promotion(chain, &use);
        for (size_t j = 0; j < i && may_promote; ++j)
            if (storage_takes_blobs(chain->tiers[j]))
                copy_to_tier(chain, j, (refused >> j & 1) != 0, "promoted to", id_size, id, kept->size, kept->bytes);
        if (status == INGOT_SUCCESS || status == INGOT_NOT_FOUND)
            continue;
        refused |= (unsigned)(status == INGOT_UNTRUSTED) << i;
        if (reason == INGOT_NOT_FOUND) {
            reason = status;
            error_text_copy(detail, sizeof(detail), ingot_last_error_detail());
        }
    }
    chain_end_use(chain, &use);
    return status == INGOT_SUCCESS ? status : ingot_set_error_detail(reason, "%s", detail);
}

ingot_status_t storage_load_kept(ingot_storage_t storage, ingot_storage_t asked, size_t id_size, const uint8_t *id,
                                 ingot_buffer_t *kept)
{
    if (!storage_is_on(storage))
        return storage_refuse(storage, INGOT_NOT_FOUND);
    if (entry_kind_of(id_size, id) == ENTRY_PROBES)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "probes do not leave their store");
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    ingot_status_t status = storage->tier_count != 0 ? load_from_tiers(storage, asked, id_size, id, &loaded)
                                                     : storage->ops.load(storage->self, id_size, id, &loaded);
    if (status == INGOT_SUCCESS && storage->tier_count == 0)
        status = trust_check_loaded(storage, asked, id_size, id, &loaded);
    storage_count(storage, status == INGOT_SUCCESS ? COUNTER_HITS : COUNTER_MISSES, 1);
    if (status == INGOT_SUCCESS)
        *kept = loaded;
    else if (status != INGOT_NOT_FOUND)
        storage_count_failure(storage, status);
    return status;
}

ingot_status_t storage_peek(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    ingot_status_t status = storage->ops.load(storage->self, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        status = trust_check_loaded(storage, storage, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        status = seal_open(&storage->allocator, &loaded);
    if (status == INGOT_SUCCESS)
        *blob = loaded;
    return status;
}

bool storage_has(ingot_storage_t storage, bool asks_all, size_t id_size, const uint8_t *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    bool has = false;
    if (!storage_is_on(storage))
        return false;
    for (size_t i = 0; i < storage->tier_count && !has; ++i)
        has = storage_has(storage->tiers[i], false, id_size, id);
    if (!has && storage->tier_count != 0 && asks_all)
        has = ingot_storage_load(storage, id_size, id, &blob) == INGOT_SUCCESS;
    else if (!has && storage->tier_count == 0 && (asks_all || storage->kind != STORAGE_OTHER))
        has = storage_peek(storage, id_size, id, &blob) == INGOT_SUCCESS;
    memory_release_buffer(&blob);
    return has;
}

ingot_status_t ingot_storage_load(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    ingot_status_t status = storage_check_id(storage, id_size, id);
    if (status == INGOT_SUCCESS && blob == NULL)
        status = ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "blob is NULL");
    if (status == INGOT_SUCCESS)
        status = storage_load_kept(storage, storage, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        status = seal_open(&storage->allocator, &loaded);
    if (status == INGOT_SUCCESS)
        *blob = loaded;
    return status;
}

/* ---- stores and removals ---- */

bool storage_keeps_blobs(ingot_storage_t storage)
{
    if (storage->tier_count != 0)
        return storage->model != NULL;
    return storage->ops.store != NULL && !storage->is_read_only;
}

bool storage_takes_blobs(ingot_storage_t storage)
{
    return storage_keeps_blobs(storage) && storage_is_on(storage);
}

bool storage_is_writable(ingot_storage_t storage)
{
    return storage_keeps_blobs(storage) && !trust_forbids_storing(storage);
}

static ingot_status_t count_store(ingot_storage_t storage, ingot_status_t status)
{
    if (status == INGOT_SUCCESS)
        storage_count(storage, COUNTER_STORES, 1);
    else
        storage_count_failure(storage, status);
    return status;
}

static ingot_status_t check_writable(ingot_storage_t storage)
{
    if (storage->ops.store == NULL && storage->tier_count == 0)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the storage has no store operation");
    if (!storage_is_on(storage))
        return storage_refuse(storage, INGOT_READ_ONLY);
    return INGOT_SUCCESS;
}

static ingot_status_t check_blob(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                                 const uint8_t *blob)
{
    const ingot_status_t status = storage_check_id(storage, id_size, id);
    if (status == INGOT_SUCCESS && (blob == NULL || blob_size == 0))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "blob is NULL or empty");
    return status == INGOT_SUCCESS ? check_writable(storage) : status;
}

static ingot_status_t store_in_tiers(ingot_storage_t chain, bool replaces, size_t id_size, const uint8_t *id,
                                     size_t size, const uint8_t *bytes)
{
    struct chain_use use;
    size_t next = 0;
    if (replaces)
        chain_begin_change(chain, &use, id_size, id);
    ingot_status_t status = ingot_set_error_detail(INGOT_READ_ONLY, "no tier can be written");
    for (; next < chain->tier_count && status == INGOT_READ_ONLY; ++next)
        status = storage_store_kept(chain->tiers[next], replaces, id_size, id, size, bytes);
    struct kept_error kept;
    kept_error_save(&kept); /* of the tier whose status is returned */
    for (; next < chain->tier_count; ++next)
        if (atomic_load_explicit(&chain->tiers[next]->is_written_through, memory_order_relaxed) &&
            storage_takes_blobs(chain->tiers[next]))
            copy_to_tier(chain, next, replaces, "stored in", id_size, id, size, bytes);
    kept_error_restore(&kept);
    if (replaces)
        chain_end_use(chain, &use);
    return status;
}

ingot_status_t storage_store_kept(ingot_storage_t storage, bool replaces, size_t id_size, const uint8_t *id,
                                  size_t size, const uint8_t *bytes)
{
    ingot_status_t status = check_writable(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (entry_kind_of(id_size, id) == ENTRY_PROBES)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "probes are stored only by who learned them");
    if (storage->tier_count != 0)
        status = store_in_tiers(storage, replaces, id_size, id, size, bytes);
    else if (storage->kind == STORAGE_DIRECTORY)
        status = directory_store(storage->self, replaces, id_size, id, size, bytes);
    else
        status = storage->ops.store(storage->self, id_size, id, size, bytes);
    return count_store(storage, status);
}

ingot_status_t ingot_storage_store(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                                   const uint8_t *blob)
{
    ingot_buffer_t sealed = INGOT_BUFFER_INIT;
    ingot_status_t status = check_blob(storage, id_size, id, blob_size, blob);
    if (status != INGOT_SUCCESS)
        return status;
    status = trust_seal(storage, id_size, id, blob_size, blob, &sealed);
    if (status != INGOT_SUCCESS)
        status = count_store(storage, status);
    else if (sealed.bytes != NULL)
        status = storage_store_kept(storage, true, id_size, id, sealed.size, sealed.bytes);
    else
        status = storage_store_kept(storage, true, id_size, id, blob_size, blob);
    memory_release_buffer(&sealed);
    return status;
}

ingot_status_t ingot_persist_store_sealed(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t size,
                                          const uint8_t *bytes)
{
    ingot_status_t status = check_blob(storage, id_size, id, size, bytes);
    if (status != INGOT_SUCCESS)
        return status;
    status = trust_check_kept(storage, id_size, id, size, bytes);
    return status == INGOT_SUCCESS ? storage_store_kept(storage, true, id_size, id, size, bytes)
                                   : count_store(storage, status);
}

static bool tier_has_blob(ingot_storage_t tier, size_t id_size, const uint8_t *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const ingot_status_t status = storage_load_kept(tier, tier, id_size, id, &blob);
    memory_release_buffer(&blob);
    return status == INGOT_SUCCESS;
}

/* Removes the id from all tiers. A read-only tier keeps its blob, which is hidden once a blob is stored in a tier
 * before it. */
static ingot_status_t remove_from_tiers(ingot_storage_t chain, size_t id_size, const uint8_t *id)
{
    struct chain_use use;
    ingot_status_t failure = INGOT_NOT_FOUND;
    bool has_removed = false;
    bool has_writable = false;
    chain_begin_change(chain, &use, id_size, id);
    for (size_t i = 0; i < chain->tier_count; ++i) {
        const ingot_status_t status = ingot_storage_remove(chain->tiers[i], id_size, id);
        has_writable = has_writable || status != INGOT_READ_ONLY;
        if (status == INGOT_SUCCESS)
            has_removed = true;
        else if (status == INGOT_READ_ONLY && !has_writable && tier_has_blob(chain->tiers[i], id_size, id))
            failure = ingot_set_error_detail(status, "tier %zu has the blob, is read-only, and is asked first", i);
        else if (status != INGOT_NOT_FOUND && status != INGOT_READ_ONLY)
            failure = status;
    }
    chain_end_use(chain, &use);
    return failure == INGOT_NOT_FOUND && has_removed ? INGOT_SUCCESS : failure;
}

ingot_status_t ingot_storage_remove(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    ingot_status_t status = storage_check_id(storage, id_size, id);
    if (status == INGOT_SUCCESS)
        status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (storage->ops.remove == NULL && storage->tier_count == 0)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the storage has no remove operation");
    return storage->tier_count != 0 ? remove_from_tiers(storage, id_size, id)
                                    : storage->ops.remove(storage->self, id_size, id);
}

/* ---- useless blobs ---- */

bool storage_is_refusal(ingot_status_t status)
{
    return status >= INGOT_BLOB_TRUNCATED && status <= INGOT_BLOB_REJECTED;
}

void storage_reject(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    const uint64_t started_ns = files_steady_clock_ns();
    storage_count(storage, COUNTER_REJECTED, 1);
    const ingot_status_t status = ingot_storage_remove(storage, id_size, id);
    if (status == INGOT_SUCCESS || status == INGOT_NOT_FOUND)
        return;
    char reason[DETAIL_CAPACITY];
    (void)snprintf(reason, sizeof(reason), "a refused blob stays in the storage: %s", ingot_last_error_detail());
    storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, "", reason);
}

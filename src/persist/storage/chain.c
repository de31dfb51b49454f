/*
 * chain.c - combines several storages, in order, into one, and lists what threads do with its blobs; see chain.h.
 *
 * load.c and store.c load from the tiers and store in them. The tiers do not change, so they need no lock. The list's
 * lock is held for a few instructions.
 */
#include "persist/storage/chain.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/memory.h"
#include "persist/storage/state.h"
#include "persist/storage/storage.h"
#include "util/thread.h"

ingot_status_t ingot_persist_chain(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers)
{
    static const ingot_storage_ops_t ops = {.struct_size = sizeof(ops)};
    ingot_allocator_t allocator;
    if (storage == NULL || tiers == NULL || tier_count == 0 || tier_count > STORAGE_MAX_TIERS)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "storage or tiers is NULL, or tier_count is not 1 to 16");
    for (size_t i = 0; i < tier_count; ++i)
        if (tiers[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "tier %zu is NULL", i);
    (void)memory_init(&allocator, NULL);
    const ingot_status_t status = storage_create(storage, STORAGE_OTHER, &ops, NULL, NULL, &allocator, NULL);
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

void chain_begin_load(ingot_storage_t chain, struct chain_use *use, size_t id_size, const uint8_t *id)
{
    *use = (struct chain_use){.thread = pthread_self(), .id_size = id_size, .id = id};
    pthread_mutex_lock(&chain->uses_lock);
    use->is_stale = find_use(chain->uses, use, CHAIN_CHANGE) != NULL;
    add_use(chain, use, CHAIN_LOAD);
    pthread_mutex_unlock(&chain->uses_lock);
}

void chain_begin_change(ingot_storage_t chain, struct chain_use *use, size_t id_size, const uint8_t *id)
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

bool chain_begin_promotion(ingot_storage_t chain, struct chain_use *use)
{
    pthread_mutex_lock(&chain->uses_lock);
    const bool may_promote = !use->is_stale;
    if (may_promote)
        use->kind = CHAIN_PROMOTION;
    pthread_mutex_unlock(&chain->uses_lock);
    return may_promote;
}

void chain_end_use(ingot_storage_t chain, struct chain_use *use)
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

/*
 * memory_cache_groups.c - adds entries to groups, and evicts whole groups.
 *
 * An entry belongs to every group that a request for it has named. Dropping a group evicts those of its entries that
 * belong to no other group and were not requested without one. The others leave the group and get a new serial, so that
 * descriptors that remember them look them up by content and join the group again. The oldest group is dropped first,
 * or, if so configured, the least recently used one. To find the least recently used group, every entry is read each
 * time a new group exceeds the limit, so this option is meant for a few thousand programs at most.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/memory_cache/cache_state.h"
#include "core/memory_cache/memory_cache.h"

/* Drops a group: evicts its entries or removes them from it. Requires the lock. */
static void drop_group(struct memory_cache *cache, struct cache_group *group, enum eviction_reason reason,
                       struct cache_victims *victims)
{
    struct cache_member *member = group->members;
    while (member != NULL) {
        struct cache_member *next = member->next;
        struct cache_entry *entry = member->entry;
        if (member_is_only_one(member) && !atomic_load_explicit(&entry->is_ungrouped, memory_order_relaxed)) {
            memory_cache_evict(cache, entry, reason, victims); /* evicting the last entry removes the group */
        } else {
            groups_leave(&cache->groups, &cache->pool.allocator, member);
            atomic_store_explicit(entry_serial(entry), ++cache->last_serial, memory_order_relaxed);
        }
        member = next;
    }
}

static uint64_t last_use_of(const struct cache_group *group)
{
    uint64_t latest = 0;
    for (const struct cache_member *member = group->members; member != NULL; member = member->next) {
        const uint64_t used = entry_last_used(member->entry);
        const uint64_t stamp = member->entry->stamp > used ? member->entry->stamp : used;
        latest = stamp > latest ? stamp : latest;
    }
    return latest;
}

/* Counts all groups, or those of a family (the group that `family` names, and its relatives), and finds the one to
 * drop first, which is not `kept`. Requires the lock. */
static size_t count_groups(const struct memory_cache *cache, const char *family, const struct cache_group *kept,
                           struct cache_group **first_to_go)
{
    uint64_t earliest = UINT64_MAX;
    size_t count = 0;

    *first_to_go = NULL;
    for (struct cache_group *group = cache->groups.oldest; group != NULL; group = group->newer) {
        if (family != NULL && !cache->pool.ops.same_family(group->name, family))
            continue;
        ++count;
        if (group == kept)
            continue;
        const uint64_t used = cache->limits.drops_least_used_group ? last_use_of(group) : count;
        if (used < earliest) {
            earliest = used;
            *first_to_go = group;
        }
    }
    return count;
}

/* Drops groups, of one family or of any, but not `kept`, until they are within the limit. Requires the lock. */
static void keep_limit(struct memory_cache *cache, const char *family, size_t limit, const struct cache_group *kept,
                       enum eviction_reason reason, struct cache_victims *victims)
{
    struct cache_group *group = NULL;
    while (count_groups(cache, family, kept, &group) > limit && group != NULL)
        drop_group(cache, group, reason, victims);
}

void memory_cache_make_room_for_group(struct memory_cache *cache, const char *name, struct cache_victims *victims)
{
    const struct memory_cache_limits *limits = &cache->limits;
    /* Other groups may have been used since, but the one that was just added stays. */
    const struct cache_group *added = groups_find(&cache->groups, name);

    if (limits->max_family_groups != 0 && cache->pool.ops.same_family != NULL)
        keep_limit(cache, name, limits->max_family_groups, added, EVICTED_FAMILY, victims);
    if (limits->max_groups != 0 && cache->groups.count > limits->max_groups)
        keep_limit(cache, NULL, limits->max_groups, added, EVICTED_GROUPS, victims);
}

void memory_cache_join_group(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry)
{
    struct cache_victims victims;

    if (!group_is_named(request->group)) {
        if (!atomic_load_explicit(&entry->is_ungrouped, memory_order_relaxed))
            atomic_store_explicit(&entry->is_ungrouped, true, memory_order_relaxed);
        return;
    }
    /* relaxed: this only saves taking the lock. If another of the entry's groups has the same hash, the entry does
     * not join the requested one, which is harmless. */
    const uint32_t hash = (uint32_t)hash128_of(strlen(request->group), request->group).low;
    if (atomic_load_explicit(&entry->group_hash, memory_order_relaxed) == hash)
        return;
    memory_cache_begin_change(cache, &victims);
    if (memory_cache_has(cache, entry)) {
        const struct cache_group *group = groups_find(&cache->groups, request->group);
        if (group == NULL || !group_has_entry(group, entry)) {
            /* If out of memory, the entry stays in only its present groups. */
            const bool is_added = groups_add_entry(&cache->groups, &cache->pool.allocator, request->group, entry);
            if (is_added && group == NULL)
                memory_cache_make_room_for_group(cache, request->group, &victims);
        }
    }
    memory_cache_end_change(cache, &victims, true);
}

/* ---- clearing ---- */

static bool is_group_named(const char *group, const void *wanted)
{
    return strcmp(group, wanted) == 0;
}

void memory_cache_clear_groups(struct memory_cache *cache, cache_group_filter filter, const void *wanted,
                               enum eviction_reason reason)
{
    struct cache_victims victims;
    memory_cache_begin_change(cache, &victims);
    flights_discard(&cache->flights, filter, wanted);
    for (struct cache_group *group = cache->groups.oldest; group != NULL;) {
        struct cache_group *newer = group->newer;
        if (filter(group->name, wanted))
            drop_group(cache, group, reason, &victims);
        group = newer;
    }
    memory_cache_end_change(cache, &victims, true);
}

void memory_cache_clear(struct memory_cache *cache, const char *group, enum eviction_reason reason)
{
    struct cache_victims victims;
    if (group != NULL) {
        memory_cache_clear_groups(cache, is_group_named, group, reason);
        return;
    }
    memory_cache_begin_change(cache, &victims);
    if (reason != EVICTED_MEMORY)
        flights_discard(&cache->flights, NULL, NULL);
    memory_cache_evict_all(cache, reason, &victims);
    memory_cache_end_change(cache, &victims, true);
}

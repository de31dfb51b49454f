/*
 * cache_groups.c - entries by the name of their group; see cache_groups.h.
 */
#include "core/memory_cache/cache_groups.h"

#include <string.h>

void groups_init(struct cache_groups *groups)
{
    memset(groups, 0, sizeof(*groups));
    groups->chains = groups->first_chains;
    groups->chain_count = GROUP_CHAINS_FIRST;
}

void groups_fini(struct cache_groups *groups, const ingot_allocator_t *allocator)
{
    if (groups->chains != groups->first_chains)
        alloc_free(allocator, groups->chains, groups->chain_count * sizeof(*groups->chains));
    groups_init(groups);
}

static struct cache_group *find_hashed(const struct cache_groups *groups, const char *name, uint64_t hash)
{
    struct cache_group *group = groups->chains[hash & (groups->chain_count - 1)];
    while (group != NULL && !(group->hash == hash && strcmp(group->name, name) == 0))
        group = group->next_in_chain;
    return group;
}

struct cache_group *groups_find(const struct cache_groups *groups, const char *name)
{
    return find_hashed(groups, name, hash128_of(strlen(name), name).low);
}

/* Where memory is short chains get longer instead. */
static void grow(struct cache_groups *groups, const ingot_allocator_t *allocator)
{
    const size_t chain_count = groups->chain_count * 2;
    struct cache_group **chains = alloc_zeroed(allocator, chain_count * sizeof(*chains));
    if (chains == NULL)
        return;
    for (struct cache_group *group = groups->oldest; group != NULL; group = group->newer) {
        struct cache_group **chain = &chains[group->hash & (chain_count - 1)];
        group->next_in_chain = *chain;
        *chain = group;
    }
    if (groups->chains != groups->first_chains)
        alloc_free(allocator, groups->chains, groups->chain_count * sizeof(*groups->chains));
    groups->chains = chains;
    groups->chain_count = chain_count;
}

struct cache_group *groups_get(struct cache_groups *groups, const ingot_allocator_t *allocator, const char *name)
{
    const size_t size = strlen(name);
    const uint64_t hash = hash128_of(size, name).low;
    struct cache_group *group = find_hashed(groups, name, hash);
    if (group != NULL)
        return group;

    group = alloc_zeroed(allocator, sizeof(*group) + size + 1);
    if (group == NULL)
        return NULL;
    if (groups->count >= groups->chain_count)
        grow(groups, allocator);
    atomic_init(&group->references, 1);
    group->hash = hash;
    memcpy(group->name, name, size + 1);
    struct cache_group **chain = &groups->chains[hash & (groups->chain_count - 1)];
    group->next_in_chain = *chain;
    *chain = group;
    group->older = groups->newest;
    if (groups->newest != NULL)
        groups->newest->newer = group;
    else
        groups->oldest = group;
    groups->newest = group;
    ++groups->count;
    return group;
}

void groups_add_entry(struct cache_group *group, struct cache_entry *entry)
{
    entry->group = group;
    entry->group_previous = NULL;
    entry->group_next = group->entries;
    if (group->entries != NULL)
        group->entries->group_previous = entry;
    group->entries = entry;
    atomic_fetch_add_explicit(&group->references, 1, memory_order_relaxed); /* the list's own keeps it alive */
}

static void unlist(struct cache_groups *groups, struct cache_group *group)
{
    struct cache_group **link = &groups->chains[group->hash & (groups->chain_count - 1)];
    while (*link != group)
        link = &(*link)->next_in_chain;
    *link = group->next_in_chain;
    if (group->older != NULL)
        group->older->newer = group->newer;
    else
        groups->oldest = group->newer;
    if (group->newer != NULL)
        group->newer->older = group->older;
    else
        groups->newest = group->older;
    --groups->count;
}

void groups_remove_entry(struct cache_groups *groups, const ingot_allocator_t *allocator, struct cache_entry *entry)
{
    struct cache_group *group = entry->group;

    if (entry->group_previous != NULL)
        entry->group_previous->group_next = entry->group_next;
    else
        group->entries = entry->group_next;
    if (entry->group_next != NULL)
        entry->group_next->group_previous = entry->group_previous;
    if (group->entries == NULL) {
        unlist(groups, group);
        group_release(group, allocator); /* not the last: the entry has one */
    }
}

void group_release(struct cache_group *group, const ingot_allocator_t *allocator)
{
    /* acq_rel: each one's reading of the name comes before the end of it */
    if (group != NULL && atomic_fetch_sub_explicit(&group->references, 1, memory_order_acq_rel) == 1)
        alloc_free(allocator, group, sizeof(*group) + strlen(group->name) + 1);
}

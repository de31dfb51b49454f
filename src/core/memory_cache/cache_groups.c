/*
 * cache_groups.c - keeps groups of entries in a list and a hash table; see cache_groups.h.
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
        memory_free(allocator, groups->chains, groups->chain_count * sizeof(*groups->chains));
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

/* Finds or makes a group. Returns NULL if out of memory. */
static struct cache_group *find_or_make_group(struct cache_groups *groups, const ingot_allocator_t *allocator,
                                              const char *name)
{
    const size_t size = strlen(name);
    const uint64_t hash = hash128_of(size, name).low;
    struct cache_group *group = find_hashed(groups, name, hash);
    if (group != NULL)
        return group;

    group = memory_allocate_zeroed(allocator, sizeof(*group) + size + 1);
    if (group == NULL)
        return NULL;
    if (groups->count >= groups->chain_count) {
        const size_t chain_count = groups->chain_count * 2;
        struct cache_group **chains = memory_allocate_zeroed(allocator, chain_count * sizeof(*chains));
        if (chains != NULL) {
            for (struct cache_group *each = groups->oldest; each != NULL; each = each->newer) {
                struct cache_group **place = &chains[each->hash & (chain_count - 1)];
                each->next_in_chain = *place;
                *place = each;
            }
            if (groups->chains != groups->first_chains)
                memory_free(allocator, groups->chains, groups->chain_count * sizeof(*groups->chains));
            groups->chains = chains;
            groups->chain_count = chain_count;
        }
    }
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

static void set_hash(struct cache_entry *entry)
{
    const uint64_t hash = entry->members != NULL ? entry->members->group->hash : 0;
    atomic_store_explicit(&entry->group_hash, (uint32_t)hash, memory_order_relaxed);
}

bool groups_add_entry(struct cache_groups *groups, const ingot_allocator_t *allocator, const char *name,
                      struct cache_entry *entry)
{
    struct cache_member *member = memory_allocate_zeroed(allocator, sizeof(*member));
    struct cache_group *group = member != NULL ? find_or_make_group(groups, allocator, name) : NULL;

    if (group == NULL) {
        memory_free(allocator, member, sizeof(*member));
        return false;
    }
    member->entry = entry;
    member->group = group;
    member->next = group->members;
    if (group->members != NULL)
        group->members->previous = member;
    group->members = member;
    member->more = entry->members;
    entry->members = member;
    set_hash(entry);
    return true;
}

bool group_has_entry(const struct cache_group *group, const struct cache_entry *entry)
{
    const struct cache_member *member = entry->members;
    while (member != NULL && member->group != group)
        member = member->more;
    return member != NULL;
}

bool member_is_only_one(const struct cache_member *member)
{
    return member->entry->members == member && member->more == NULL;
}

/* Removes a member, which is no longer in its entry's list, and frees it. If it was the group's last one, removes and
 * frees the group, too. */
static void remove_member(struct cache_groups *groups, const ingot_allocator_t *allocator, struct cache_member *member)
{
    struct cache_group *group = member->group;

    if (member->previous != NULL)
        member->previous->next = member->next;
    else
        group->members = member->next;
    if (member->next != NULL)
        member->next->previous = member->previous;
    memory_free(allocator, member, sizeof(*member));
    if (group->members == NULL) {
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
        memory_free(allocator, group, sizeof(*group) + strlen(group->name) + 1);
    }
}

void groups_leave(struct cache_groups *groups, const ingot_allocator_t *allocator, struct cache_member *member)
{
    struct cache_entry *entry = member->entry;
    struct cache_member **link = &entry->members;

    while (*link != member)
        link = &(*link)->more;
    *link = member->more;
    remove_member(groups, allocator, member);
    set_hash(entry);
}

void groups_remove_entry(struct cache_groups *groups, const ingot_allocator_t *allocator, struct cache_entry *entry)
{
    while (entry->members != NULL) {
        struct cache_member *member = entry->members;
        entry->members = member->more;
        remove_member(groups, allocator, member);
    }
}

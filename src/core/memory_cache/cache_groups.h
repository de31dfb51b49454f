/*
 * cache_groups.h - keeps groups of entries, by name and in the order of their creation.
 *
 * A request may name a group. An entry belongs to each group that a request for it has named. A group exists as long as
 * it has entries. The empty name does not denote a group: an entry that is requested with it does not join a group.
 * Locks: everything here requires cache->lock.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_GROUPS_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_GROUPS_H

#include "core/memory_cache/cache_entry.h"

enum { GROUP_CHAINS_FIRST = 16 };

struct cache_group {
    uint64_t hash;
    struct cache_group *next_in_chain;
    struct cache_group *older;
    struct cache_group *newer;
    struct cache_member *members;
    char name[];
};

struct cache_groups {
    struct cache_group *oldest;
    struct cache_group *newest;
    size_t count;
    struct cache_group **chains; /* a hash table of chain_count chains, a power of two */
    size_t chain_count;
    struct cache_group *first_chains[GROUP_CHAINS_FIRST];
};

void groups_init(struct cache_groups *groups);
void groups_fini(struct cache_groups *groups, const ingot_allocator_t *allocator);
struct cache_group *groups_find(const struct cache_groups *groups, const char *name);
/* Adds the entry to the group, which is made if necessary. The entry stays in its other groups. Returns false and
 * changes nothing if out of memory. */
bool groups_add_entry(struct cache_groups *groups, const ingot_allocator_t *allocator, const char *name,
                      struct cache_entry *entry);
bool group_has_entry(const struct cache_group *group, const struct cache_entry *entry);
/* Removes the entry from one group; it stays in its other groups. */
void groups_leave(struct cache_groups *groups, const ingot_allocator_t *allocator, struct cache_member *member);
bool member_is_only_one(const struct cache_member *member);
/* Removes the entry from all its groups. */
void groups_remove_entry(struct cache_groups *groups, const ingot_allocator_t *allocator, struct cache_entry *entry);

static inline bool group_is_named(const char *name)
{
    return name != NULL && name[0] != '\0';
}

#endif

/*
 * cache_recency.c - finds the least recently used entry; see cache_recency.h.
 */
#include "core/memory_cache/cache_recency.h"

#include <string.h>

enum { HEAP_CHILDREN = 4, FIRST_HEAP_CAPACITY = 32 };
static const uint32_t IN_LIST = UINT32_MAX; /* heap_index of an entry that has never moved */

void recency_init(struct cache_recency *recency)
{
    memset(recency, 0, sizeof(*recency));
}

void recency_fini(struct cache_recency *recency, const ingot_allocator_t *allocator)
{
    alloc_free(allocator, recency->heap, recency->heap_capacity * sizeof(*recency->heap));
    recency_init(recency);
}

bool recency_reserve(struct cache_recency *recency, const ingot_allocator_t *allocator, size_t entry_count)
{
    if (entry_count <= recency->heap_capacity)
        return true;
    if (entry_count >= IN_LIST)
        return false;
    const size_t capacity = recency->heap_capacity != 0 ? recency->heap_capacity * 2 : FIRST_HEAP_CAPACITY;
    struct recency_heap_item *heap = alloc_bytes(allocator, capacity * sizeof(*heap));
    if (heap == NULL)
        return false;
    if (recency->heap_count != 0)
        memcpy(heap, recency->heap, recency->heap_count * sizeof(*heap));
    alloc_free(allocator, recency->heap, recency->heap_capacity * sizeof(*heap));
    recency->heap = heap;
    recency->heap_capacity = capacity;
    return true;
}

static void put(struct cache_recency *recency, size_t index, struct recency_heap_item item)
{
    recency->heap[index] = item;
    item.entry->heap_index = (uint32_t)index;
}

static void sift_up(struct cache_recency *recency, size_t index, struct recency_heap_item item)
{
    while (index > 0) {
        const size_t parent = (index - 1) / HEAP_CHILDREN;
        if (recency->heap[parent].stamp <= item.stamp)
            break;
        put(recency, index, recency->heap[parent]);
        index = parent;
    }
    put(recency, index, item);
}

static void sift_down(struct cache_recency *recency, size_t index, struct recency_heap_item item)
{
    for (;;) {
        const size_t first = index * HEAP_CHILDREN + 1;
        const size_t end = first + HEAP_CHILDREN < recency->heap_count ? first + HEAP_CHILDREN : recency->heap_count;
        size_t least = first;
        for (size_t child = first + 1; child < end; ++child) {
            if (recency->heap[child].stamp < recency->heap[least].stamp)
                least = child;
        }
        if (first >= end || recency->heap[least].stamp >= item.stamp)
            break;
        put(recency, index, recency->heap[least]);
        index = least;
    }
    put(recency, index, item);
}

void recency_add(struct cache_recency *recency, struct cache_entry *entry)
{
    entry->heap_index = IN_LIST;
    entry->newer = NULL;
    entry->older = recency->newest;
    if (recency->newest != NULL)
        recency->newest->newer = entry;
    else
        recency->oldest = entry;
    recency->newest = entry;
}

static void remove_from_list(struct cache_recency *recency, struct cache_entry *entry)
{
    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        recency->oldest = entry->newer;
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        recency->newest = entry->older;
}

static void remove_from_heap(struct cache_recency *recency, size_t index)
{
    const struct recency_heap_item last = recency->heap[--recency->heap_count];

    if (index == recency->heap_count)
        return;
    if (index > 0 && last.stamp < recency->heap[(index - 1) / HEAP_CHILDREN].stamp)
        sift_up(recency, index, last);
    else
        sift_down(recency, index, last);
}

void recency_remove(struct cache_recency *recency, struct cache_entry *entry)
{
    if (entry->heap_index == IN_LIST)
        remove_from_list(recency, entry);
    else
        remove_from_heap(recency, entry->heap_index);
}

static void move_to(struct cache_recency *recency, struct cache_entry *entry, uint64_t stamp)
{
    const struct recency_heap_item item = {stamp, entry};

    entry->stamp = stamp;
    if (entry->heap_index != IN_LIST) {
        sift_down(recency, entry->heap_index, item); /* stamps never decrease */
        return;
    }
    remove_from_list(recency, entry);
    sift_up(recency, recency->heap_count++, item);
}

struct cache_entry *recency_oldest(struct cache_recency *recency, uint64_t generation)
{
    for (;;) {
        struct cache_entry *entry = recency->oldest;
        if (recency->heap_count != 0 && (entry == NULL || recency->heap[0].stamp < entry->stamp))
            entry = recency->heap[0].entry;
        if (entry == NULL || entry->stamp >= generation << STAMP_SEQUENCE_BITS)
            return entry;
        const uint64_t stamp = entry_last_used(entry);
        if (stamp <= entry->stamp)
            return entry;
        move_to(recency, entry, stamp);
    }
}

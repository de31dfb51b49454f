/*
 * cache_recency.c - finds the least recently used entry; see cache_recency.h.
 */
#include "core/memory_cache/cache_recency.h"

#include <string.h>

enum { HEAP_CHILDREN = 4, FIRST_CAPACITY = 32 };

void recency_fini(struct cache_recency *recency, const ingot_allocator_t *allocator)
{
    memory_free(allocator, recency->heap, recency->capacity * sizeof(*recency->heap));
}

bool recency_reserve(struct cache_recency *recency, const ingot_allocator_t *allocator, size_t entry_count)
{
    if (entry_count <= recency->capacity)
        return true;
    if (entry_count > UINT32_MAX)
        return false;
    const size_t capacity = recency->capacity != 0 ? recency->capacity * 2 : FIRST_CAPACITY;
    struct recency_heap_item *heap = memory_allocate(allocator, capacity * sizeof(*heap));
    if (heap == NULL)
        return false;
    if (recency->count != 0)
        memcpy(heap, recency->heap, recency->count * sizeof(*heap));
    memory_free(allocator, recency->heap, recency->capacity * sizeof(*heap));
    recency->heap = heap;
    recency->capacity = capacity;
    return true;
}

static void put_heap_item(struct cache_recency *recency, size_t index, struct recency_heap_item item)
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
        put_heap_item(recency, index, recency->heap[parent]);
        index = parent;
    }
    put_heap_item(recency, index, item);
}

static void sift_down(struct cache_recency *recency, size_t index, struct recency_heap_item item)
{
    for (;;) {
        const size_t first = index * HEAP_CHILDREN + 1;
        const size_t end = first + HEAP_CHILDREN < recency->count ? first + HEAP_CHILDREN : recency->count;
        size_t least = first;
        for (size_t child = first + 1; child < end; ++child) {
            if (recency->heap[child].stamp < recency->heap[least].stamp)
                least = child;
        }
        if (first >= end || recency->heap[least].stamp >= item.stamp)
            break;
        put_heap_item(recency, index, recency->heap[least]);
        index = least;
    }
    put_heap_item(recency, index, item);
}

void recency_add(struct cache_recency *recency, struct cache_entry *entry)
{
    sift_up(recency, recency->count++, (struct recency_heap_item){entry->stamp, entry});
}

void recency_remove(struct cache_recency *recency, struct cache_entry *entry)
{
    const size_t index = entry->heap_index;
    const struct recency_heap_item last = recency->heap[--recency->count];

    if (index == recency->count)
        return;
    if (index > 0 && last.stamp < recency->heap[(index - 1) / HEAP_CHILDREN].stamp)
        sift_up(recency, index, last);
    else
        sift_down(recency, index, last);
}

struct cache_entry *recency_oldest(struct cache_recency *recency, uint64_t generation)
{
    for (;;) {
        struct cache_entry *entry = recency->count != 0 ? recency->heap[0].entry : NULL;
        if (entry == NULL || entry->stamp >= generation << STAMP_SEQUENCE_BITS)
            return entry;
        const uint64_t stamp = entry_last_used(entry);
        if (stamp <= entry->stamp)
            return entry;
        entry->stamp = stamp;
        sift_down(recency, 0, (struct recency_heap_item){stamp, entry}); /* stamps never decrease */
    }
}

/*
 * store_list.c - keeps lists of programs and blobs to store; see store_list.h.
 */
#include "persist/storage/common/store_list.h"

#include <string.h>

#include "persist/base/memory.h"

static size_t bytes_of(const struct store_queue_item *item)
{
    return item->id_size + item->blob_size;
}

struct store_queue_item *store_list_make_item(const ingot_allocator_t *allocator, size_t id_size, const uint8_t *id,
                                              size_t blob_size, const uint8_t *blob)
{
    if (blob_size > SIZE_MAX / 2 || id_size > SIZE_MAX / 2 - sizeof(struct store_queue_item))
        return NULL;
    struct store_queue_item *item = memory_allocate(allocator, sizeof(*item) + id_size + blob_size);
    if (item == NULL)
        return NULL;
    *item = (struct store_queue_item){.id_size = id_size, .blob_size = blob_size};
    memcpy(item->id, id, id_size);
    if (blob_size != 0)
        memcpy(item->id + id_size, blob, blob_size);
    return item;
}

void store_list_free_item(const ingot_allocator_t *allocator, struct store_queue_item *item)
{
    memory_free(allocator, item, sizeof(*item) + bytes_of(item));
}

void store_list_append(struct store_queue_list *list, struct store_queue_item *item)
{
    item->next = NULL;
    if (list->last != NULL)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    ++list->count;
    list->bytes += bytes_of(item);
}

struct store_queue_item *store_list_take_out(struct store_queue_list *list, struct store_queue_item **at)
{
    struct store_queue_item *item = *at;
    *at = item->next;
    if (list->last == item) {
        list->last = list->first;
        while (list->last != NULL && list->last->next != NULL)
            list->last = list->last->next;
    }
    --list->count;
    list->bytes -= bytes_of(item);
    return item;
}

bool store_list_is_blob(const struct store_queue_item *item, size_t id_size, const uint8_t *id)
{
    return item->program == NULL && item->id_size == id_size && memcmp(item->id, id, id_size) == 0;
}

struct store_queue_item **store_list_find_blob(struct store_queue_list *list, size_t id_size, const uint8_t *id)
{
    for (struct store_queue_item **at = &list->first; *at != NULL; at = &(*at)->next) {
        if (store_list_is_blob(*at, id_size, id))
            return at;
    }
    return NULL;
}

struct store_queue_item **store_list_find_item(struct store_queue_list *list, const struct store_queue_item *item)
{
    struct store_queue_item **at = &list->first;
    while (*at != NULL && *at != item)
        at = &(*at)->next;
    return at;
}

struct store_queue_item **store_list_find_cheapest(struct store_queue_list *list)
{
    struct store_queue_item **cheapest = &list->first;
    for (struct store_queue_item **at = cheapest; *at != NULL; at = &(*at)->next) {
        if ((*at)->cost.build_ns < (*cheapest)->cost.build_ns)
            cheapest = at;
    }
    return cheapest;
}

struct store_queue_item **store_list_find(struct store_queue_list *list, bool is_oldest, uint64_t limit_ns,
                                          const struct store_costs *so_far)
{
    struct store_queue_item **best = NULL;
    for (struct store_queue_item **at = &list->first; *at != NULL; at = &(*at)->next) {
        if (costs_expect_ns(&(*at)->cost, so_far) > limit_ns ||
            (best != NULL && (*at)->cost.build_ns <= (*best)->cost.build_ns))
            continue;
        best = at;
        if (is_oldest)
            break;
    }
    return best;
}

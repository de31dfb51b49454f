/*
 * id_list.c - keeps an ordered list of distinct ids, and finds an id by its bytes.
 */
#include "persist/prewarm/id_list.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/checksum.h"
#include "persist/base/memory.h"

#define FIRST_CAPACITY 64u

void id_list_init(struct id_list *list, const ingot_allocator_t *allocator)
{
    *list = (struct id_list){.allocator = *allocator};
}

void id_list_fini(struct id_list *list)
{
    memory_free(&list->allocator, list->ids, list->capacity * sizeof(*list->ids));
    memory_free(&list->allocator, list->slots, 2 * list->capacity * sizeof(*list->slots));
    id_list_init(list, &list->allocator);
}

/* Returns the slot of the id, or the empty slot where it would go. At least half of the slots are empty. */
static size_t slot_of(const struct id_list *list, uint64_t hash, size_t size, const uint8_t *id)
{
    size_t slot = (size_t)(hash % (2 * list->capacity));
    while (list->slots[slot] != 0) {
        const struct listed_id *listed = &list->ids[list->slots[slot] - 1];
        if (listed->hash == hash && listed->size == size && memcmp(listed->bytes, id, size) == 0)
            break;
        slot = (slot + 1) % (2 * list->capacity);
    }
    return slot;
}

size_t id_list_find(const struct id_list *list, size_t size, const uint8_t *id)
{
    if (list->count == 0)
        return ID_LIST_NONE;
    const uint32_t found = list->slots[slot_of(list, checksum_bucket_of(size, id), size, id)];
    return found != 0 ? found - 1 : ID_LIST_NONE;
}

static ingot_status_t grow(struct id_list *list)
{
    struct id_list larger = {.allocator = list->allocator,
                             .count = list->count,
                             .capacity = list->capacity != 0 ? 2 * list->capacity : FIRST_CAPACITY};
    larger.ids = memory_allocate(&list->allocator, larger.capacity * sizeof(*larger.ids));
    larger.slots = memory_allocate(&list->allocator, 2 * larger.capacity * sizeof(*larger.slots));
    if (larger.ids == NULL || larger.slots == NULL) {
        id_list_fini(&larger);
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a list of %zu ids", list->count + 1);
    }
    memset(larger.slots, 0, 2 * larger.capacity * sizeof(*larger.slots));
    for (size_t i = 0; i < list->count; ++i) {
        const struct listed_id *listed = &list->ids[i];
        larger.ids[i] = *listed;
        larger.slots[slot_of(&larger, listed->hash, listed->size, listed->bytes)] = (uint32_t)i + 1;
    }
    id_list_fini(list);
    *list = larger;
    return INGOT_SUCCESS;
}

ingot_status_t id_list_add(struct id_list *list, size_t size, const uint8_t *id, uint32_t age)
{
    const ingot_status_t status = list->count == list->capacity ? grow(list) : INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t hash = checksum_bucket_of(size, id);
    const size_t slot = slot_of(list, hash, size, id);
    list->ids[list->count] = (struct listed_id){size, id, hash, age};
    list->slots[slot] = (uint32_t)++list->count;
    return INGOT_SUCCESS;
}

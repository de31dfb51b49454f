/*
 * id_list.h - keeps an ordered list of distinct ids, and finds an id by its bytes. The caller owns the bytes.
 */
#ifndef INGOT_PERSIST_PREWARM_ID_LIST_H
#define INGOT_PERSIST_PREWARM_ID_LIST_H

#include <ingot/ingot.h>

#define ID_LIST_NONE SIZE_MAX

struct listed_id {
    size_t size;
    const uint8_t *bytes;
    uint64_t hash;
    uint32_t age; /* see doc/manifest-format.md */
};

struct id_list {
    ingot_allocator_t allocator;
    struct listed_id *ids;
    size_t count;
    size_t capacity;
    /* a hash table with 2 * capacity slots and linear probing; a slot has the index of an id plus 1, or 0 if empty */
    uint32_t *slots;
};

void id_list_init(struct id_list *list, const ingot_allocator_t *allocator);
void id_list_fini(struct id_list *list);
/* Returns the index of an id, or ID_LIST_NONE. */
size_t id_list_find(const struct id_list *list, size_t size, const uint8_t *id);
/* Adds an id that is not in the list. May return INGOT_OUT_OF_MEMORY. */
ingot_status_t id_list_add(struct id_list *list, size_t size, const uint8_t *id, uint32_t age);

#endif

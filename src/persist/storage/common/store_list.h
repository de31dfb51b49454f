/*
 * store_list.h - keeps lists of programs whose blobs will be stored, and of blobs that a chain promotes. Callers do the
 * locking.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_STORE_LIST_H
#define INGOT_PERSIST_STORAGE_COMMON_STORE_LIST_H

#include <ingot/ingot.h>
#include <stdbool.h>

#include "persist/storage/common/costs.h"

struct store_queue_item {
    struct store_queue_item *next;
    ingot_program_t program; /* a reference, which keeps its context alive; NULL: the item is a blob to promote */
    const struct ingot_context *context; /* the program's; NULL for a blob */
    struct store_cost cost;              /* zeros for a blob */
    uint64_t began_ns;                   /* when a thread began to store it; 0: not yet */
    bool is_settled;                     /* true: it was stored, or an event has reported that it was not */
    bool is_over;                        /* true: nothing is to be done with it but to free it */
    bool is_cancelled;                   /* true: the blob was removed or replaced while it was being promoted */
    size_t tier_count;                   /* number of a chain's first tiers that the blob is promoted to */
    size_t blob_size;                    /* 0 if the item is a program */
    size_t id_size;
    uint8_t id[]; /* followed by the blob */
};

struct store_queue_list {
    struct store_queue_item *first; /* oldest */
    struct store_queue_item *last;
    size_t count;
    size_t bytes; /* total size of the blobs and ids; an id may be long, because it contains the build options */
};

/* Makes an item from an id and a blob, or from an id alone. Returns NULL if memory runs out. */
struct store_queue_item *store_list_make_item(const ingot_allocator_t *allocator, size_t id_size, const uint8_t *id,
                                              size_t blob_size, const uint8_t *blob);
void store_list_free_item(const ingot_allocator_t *allocator, struct store_queue_item *item);

void store_list_append(struct store_queue_list *list, struct store_queue_item *item);
/* Removes and returns the item to which `at` points. `at` is a link of the list: its `first`, or the `next` of an
 * item. */
struct store_queue_item *store_list_take_out(struct store_queue_list *list, struct store_queue_item **at);

bool store_list_is_blob(const struct store_queue_item *item, size_t id_size, const uint8_t *id);
/* Returns a link to the item of a blob that is to be promoted under this id, or NULL. */
struct store_queue_item **store_list_find_blob(struct store_queue_list *list, size_t id_size, const uint8_t *id);

/* Returns the link that points to this item. If the list does not have the item, returns the link at the end, which is
 * NULL. A list loses its items in a child that was forked while they were in the list. */
struct store_queue_item **store_list_find_item(struct store_queue_list *list, const struct store_queue_item *item);
/* Returns the link to the item that was fastest to build. The list must not be empty. */
struct store_queue_item **store_list_find_cheapest(struct store_queue_list *list);

/* Looks only at items whose blobs the driver is expected to provide within limit_ns. Returns a link to the oldest of
 * them (is_oldest) or to the one that took longest to build, or NULL if there are none. */
struct store_queue_item **store_list_find(struct store_queue_list *list, bool is_oldest, uint64_t limit_ns,
                                          const struct store_costs *so_far);

#endif

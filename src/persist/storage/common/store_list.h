/*
 * store_list.h - lists of programs whose blobs will be stored, and of blobs that a chain promotes. The list's owner
 * locks it.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_STORE_LIST_H
#define INGOT_PERSIST_STORAGE_COMMON_STORE_LIST_H

#include <ingot/ingot.h>
#include <stdbool.h>

struct store_queue_item {
    struct store_queue_item *next;
    ingot_program_t program; /* holds its context, too; NULL: a blob to promote, and context is NULL */
    const struct ingot_context *context;
    uint64_t build_ns;
    bool is_given_up;  /* true: an event reported it */
    bool is_cancelled; /* true: the blob was removed or replaced while it was being promoted */
    size_t tier_count; /* number of a chain's first tiers that the blob is promoted to */
    size_t blob_size;  /* 0 with a program */
    size_t id_size;
    uint8_t id[]; /* followed by the blob */
};

struct store_queue_list {
    struct store_queue_item *first; /* oldest */
    struct store_queue_item *last;
    size_t count;
    size_t bytes; /* size of the blobs and ids; ids contain the sources' digests and the options */
};

/* Makes an item from an id and a blob, or from an id alone; returns NULL if out of memory. */
struct store_queue_item *store_list_make_item(const ingot_allocator_t *allocator, size_t id_size, const uint8_t *id,
                                              size_t blob_size, const uint8_t *blob);
void store_list_free_item(const ingot_allocator_t *allocator, struct store_queue_item *item);

void store_list_append(struct store_queue_list *list, struct store_queue_item *item);
/* Removes and returns the item that a link of the list points to. */
struct store_queue_item *store_list_take_out(struct store_queue_list *list, struct store_queue_item **at);

bool store_list_is_blob(const struct store_queue_item *item, size_t id_size, const uint8_t *id);
/* Returns a link to the item of a blob that is to be promoted under this id, or NULL. */
struct store_queue_item **store_list_find_blob(struct store_queue_list *list, size_t id_size, const uint8_t *id);

/* Return links to items. The first function's link is to this item, or to NULL in a child that was forked in the
 * meantime. The second one's is to the item that was fastest to build, in a list that is not empty. */
struct store_queue_item **store_list_find_item(struct store_queue_list *list, const struct store_queue_item *item);
struct store_queue_item **store_list_find_cheapest(struct store_queue_list *list);

/* Returns a link to the oldest item, or to the one that took longest to build, among those that the driver should
 * finish within limit_ns. The expected time is the item's build time multiplied by taken_ns / built_ns, the ratio so
 * far. If built_ns is 0, the ratio is unknown, and all items count. Returns NULL if there is none. */
struct store_queue_item **store_list_find(struct store_queue_list *list, bool is_oldest, uint64_t limit_ns,
                                          uint64_t taken_ns, uint64_t built_ns);

#endif

/*
 * store_list.h - programs whose blobs are to be stored, in a list that its owner locks.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_LIST_H
#define INGOT_PERSIST_STORAGE_STORE_LIST_H

#include <ingot/ingot.h>
#include <stdbool.h>

struct store_queue_item {
    struct store_queue_item *next;
    ingot_program_t program; /* holds its context, too */
    const struct ingot_context *context;
    uint64_t build_ns;
    bool is_given_up; /* and told of */
    size_t id_size;
    uint8_t id[];
};

struct store_queue_list {
    struct store_queue_item *first; /* oldest */
    struct store_queue_item *last;
    size_t count;
    size_t bytes; /* of ids, which hold the sources' digests and the options */
};

void store_list_append(struct store_queue_list *list, struct store_queue_item *item);
/* Takes out the item that a link of the list points to. */
struct store_queue_item *store_list_take_out(struct store_queue_list *list, struct store_queue_item **at);

/* Links to items. Which must be in the list; and of one that is not empty the item that was the fastest to build. */
struct store_queue_item **store_list_find_item(struct store_queue_list *list, const struct store_queue_item *item);
struct store_queue_item **store_list_find_cheapest(struct store_queue_list *list);

/*
 * A link to the oldest item, or to the one that took longest to build, of those that the driver is expected to be done
 * with within limit_ns, if it takes as long per time of building as it took before: taken_ns for built_ns. Where that
 * is 0, nothing is known, and all fit. NULL: none.
 */
struct store_queue_item **store_list_find(struct store_queue_list *list, bool is_oldest, uint64_t limit_ns,
                                          uint64_t taken_ns, uint64_t built_ns);

#endif

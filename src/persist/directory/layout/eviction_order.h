/*
 * eviction_order.h - defines the orders in which a store evicts entries.
 *
 * Everything that depends on the order is in the table of eviction_order.c.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_EVICTION_ORDER_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_EVICTION_ORDER_H

#include <ingot/persist.h>
#include <stdbool.h>

struct eviction_order {
    bool evicts;        /* false: a full store refuses blobs, and only the age limit removes entries */
    bool follows_use;   /* true: an entry's age begins at its last use, which loads note; false: at its creation */
    const char *reason; /* the reason in eviction events */
};

/* An entry's sort key. Two keys can be compared only if their times have the same unit. */
struct eviction_key {
    uint64_t created;
    uint64_t last_use;
    uint64_t bucket;
    uint32_t number;
};

/* Returns the order that a value of the public enumeration stands for, or NULL if the value is not valid. */
const struct eviction_order *eviction_order_of(ingot_persist_eviction_t value);

/* Returns the time from which an entry's age counts. */
uint64_t eviction_order_time(const struct eviction_order *order, uint64_t created, uint64_t last_use);

/* Returns a negative number if the left entry is evicted first, and 0 if the keys are equal. */
int eviction_order_compare(const struct eviction_order *order, const struct eviction_key *left,
                           const struct eviction_key *right);

#endif

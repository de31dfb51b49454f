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
    bool follows_use;   /* true: a load sets the time of the entry, from which its age counts */
    const char *reason; /* the reason in eviction events */
};

/* Returns the order that a value of the public enumeration stands for, or NULL if the value is not valid. */
const struct eviction_order *eviction_order_of(ingot_persist_eviction_t value);

#endif

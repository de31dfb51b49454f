/*
 * eviction_order.c - defines the orders in which a store evicts entries; see eviction_order.h.
 */
#include "persist/directory/layout/eviction_order.h"

static const struct eviction_order orders[] = {
    [INGOT_PERSIST_EVICT_FIFO] = {true, false, "over a limit, oldest first"},
    [INGOT_PERSIST_EVICT_LRU] = {true, true, "over a limit, least recently used first"},
    [INGOT_PERSIST_EVICT_OFF] = {false, false, "older than the age limit"},
};

const struct eviction_order *eviction_order_of(ingot_persist_eviction_t value)
{
    return (size_t)value < sizeof(orders) / sizeof(orders[0]) ? &orders[value] : NULL;
}

uint64_t eviction_order_time(const struct eviction_order *order, uint64_t created, uint64_t last_use)
{
    return order->follows_use ? last_use : created;
}

static int compare(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

int eviction_order_compare(const struct eviction_order *order, const struct eviction_key *left,
                           const struct eviction_key *right)
{
    int result = order->follows_use ? compare(left->last_use, right->last_use) : 0;
    if (result == 0)
        result = compare(left->created, right->created);
    if (result == 0)
        result = compare(left->bucket, right->bucket);
    return result != 0 ? result : compare(left->number, right->number);
}

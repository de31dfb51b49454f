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

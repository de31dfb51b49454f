/*
 * state.c - implements the functions on an open directory store's state that many files use.
 */
#include "persist/directory/state.h"

#include <ingot/backend.h>

#include "persist/storage/events.h"
#include "persist/storage/storage.h"

static const struct eviction_order orders[] = {
    [INGOT_PERSIST_EVICT_FIFO] = {true, false, "over a limit, oldest first"},
    [INGOT_PERSIST_EVICT_LRU] = {true, true, "over a limit, least recently used first"},
    [INGOT_PERSIST_EVICT_OFF] = {false, false, "older than the age limit"},
};

const struct eviction_order *eviction_order_of(ingot_persist_eviction_t value)
{
    return (size_t)value < sizeof(orders) / sizeof(orders[0]) ? &orders[value] : NULL;
}

struct directory *directory_of(ingot_storage_t storage)
{
    return storage_self(storage, STORAGE_DIRECTORY);
}

const char *directory_name_space(const struct directory *directory)
{
    return directory->name_space[0] != '\0' ? directory->name_space : NULL;
}

void directory_tell(const struct directory *directory, ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes,
                    uint64_t started_ns, const char *name, const char *reason)
{
    events_tell(directory->on_event, directory->on_event_user, kind, status, bytes, started_ns, name, reason);
}

/*
 * state.c - implements the functions on an open directory store's state that many files use.
 */
#include "persist/directory/layout/state.h"

#include <ingot/backend.h>

#include "persist/storage/common/events.h"
#include "persist/storage/storage.h"

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

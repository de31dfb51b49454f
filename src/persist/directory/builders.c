/*
 * builders.c - the roles of a store's builders and of the applications that use them; see builders.h.
 *
 * A role is a lock on a byte of the file `lock`, as if it were a program with the role's name as its id. The kernel
 * releases it when its holder ends, however it ends.
 */
#include "persist/directory/builders.h"

#include <ingot/backend.h>
#include <ingot/private/wish.h>
#include <string.h>

#include "persist/directory/build_lock.h"
#include "persist/storage/serving.h"

static const char *const role_names[] = {[INGOT_ROLE_USER] = "user of builders", [INGOT_ROLE_BUILDER] = "builder"};

ingot_status_t ingot_persist_take_role(ingot_storage_t storage, ingot_builder_role_t role,
                                       struct ingot_held_role **held)
{
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (directory_of(storage) == NULL || directory_of(storage)->is_read_only)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage is not a directory store that can be written");
    const uint8_t *name = (const uint8_t *)role_names[role];
    struct build_lock *lock = build_lock_operations.open(directory_of(storage), strlen(role_names[role]), name);
    if (lock == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the store has no build locks");
    const bool is_held = role == INGOT_ROLE_USER ? build_lock_operations.try_share(lock)
                                                 : build_lock_operations.try_take(lock) == BUILD_LOCK_TAKEN;
    if (!is_held) {
        build_lock_operations.close(lock, false);
        return ingot_set_error_detail(INGOT_BUSY, "another process has this role");
    }
    *held = (struct ingot_held_role *)lock;
    return INGOT_SUCCESS;
}

void ingot_persist_leave_role(struct ingot_held_role *held)
{
    if (held != NULL)
        build_lock_operations.close((struct build_lock *)held, false);
}

bool ingot_persist_has_role(ingot_storage_t storage, ingot_builder_role_t role)
{
    const uint8_t *name = (const uint8_t *)role_names[role];
    const enum build_lock_state found =
        storage_check(storage) == INGOT_SUCCESS && directory_of(storage) != NULL
            ? build_lock_operations.look(directory_of(storage), strlen(role_names[role]), name)
            : BUILD_LOCK_UNUSABLE;
    return found == BUILD_LOCK_BUSY || found == BUILD_LOCK_POINTLESS;
}

const char *builders_path(ingot_storage_t storage)
{
    return directory_of(storage) != NULL ? directory_of(storage)->path : NULL;
}

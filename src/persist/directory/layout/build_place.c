/*
 * build_place.c - limits how many builds run at the same time, by locks on bytes of the file `lock`; see
 * build_place.h.
 *
 * There is one byte for each place. Before a build takes a place, it locks a byte that stands for the time at which it
 * asked. It may take a place once no earlier byte is locked, so builds get their places in the order of asking. The
 * time is that of the steady clock, which all processes of a machine share. The kernel unlocks the bytes of a process
 * that ends, so neither a place nor the order is ever lost. Each build has its own open file, because two builds of one
 * process must not share a lock.
 */
#include "persist/directory/layout/build_place.h"

#include <errno.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/directory/layout/root.h"
#include "persist/directory/layout/state.h"

struct build_place {
    struct directory *directory;
    struct kept_file file;
    bool is_taken;
    uint64_t byte; /* locked: that of the place, or before is_taken that of the wait */
};

/* Locks the byte of the present moment. If another build has it, takes the next one. */
static bool join_queue(struct build_place *place)
{
    place->byte = PATHS_WAITING_MIN | (files_steady_clock_ns() & (PATHS_WAITING_MIN - 1));
    int result = files_try_lock(place->file.fd, place->byte);
    while (result == -EAGAIN)
        result = files_try_lock(place->file.fd, ++place->byte);
    return result == 0;
}

struct build_place *build_place_ask(void *self)
{
    struct directory *directory = self;
    if (directory->build_jobs == 0)
        return NULL;
    struct build_place *place = memory_allocate(&directory->allocator, sizeof(*place));
    if (place == NULL)
        return NULL;
    *place = (struct build_place){.directory = directory, .file = KEPT_FILE_INIT};
    const bool is_ready = root_ready(directory) == INGOT_SUCCESS;
    const int fd = is_ready ? files_open_update(directory->root.fd, PATHS_LOCK) : -EBADF;
    if (fd >= 0 && files_keep(fd, &place->file) == 0 && join_queue(place))
        return place;
    build_place_leave(place);
    return NULL;
}

static bool is_first(const struct build_place *place)
{
    enum files_lock found = FILES_LOCK_NONE;
    return place->byte == PATHS_WAITING_MIN ||
           files_find_lock_in(place->file.fd, PATHS_WAITING_MIN, place->byte - PATHS_WAITING_MIN, &found) < 0 ||
           found == FILES_LOCK_NONE;
}

bool build_place_is_taken(struct build_place *place)
{
    if (!kept_file_is_open(&place->file)) /* the application has closed it, so nothing can be waited for */
        return true;
    if (place->is_taken || !is_first(place))
        return place->is_taken;
    for (uint64_t i = 0; i < place->directory->build_jobs && !place->is_taken; ++i) {
        if (files_try_lock(place->file.fd, PATHS_PLACE_MIN + i) != 0)
            continue;
        (void)files_unlock(place->file.fd, place->byte);
        place->byte = PATHS_PLACE_MIN + i;
        place->is_taken = true;
    }
    return place->is_taken;
}

void build_place_leave(struct build_place *place)
{
    if (kept_file_is_open(&place->file))
        (void)files_unlock(place->file.fd, place->byte); /* because a forked child may share the open file */
    kept_file_end(&place->file);
    memory_free(&place->directory->allocator, place, sizeof(*place));
}

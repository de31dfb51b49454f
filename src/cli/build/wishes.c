/*
 * wishes.c - takes wishes; see wishes.h.
 *
 * A wish may be for another machine, and is then left to it. In a directory it just stays. One from a server is left
 * there again, for the next builder that waits, but only once: otherwise it would go round for an hour if nobody has
 * the device.
 */
#include "cli/build/wishes.h"

#include <ingot/private/wish.h>
#include <limits.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>
#if INGOT_WITH_REMOTE
#include <ingot/private/remote.h>
#endif

#include "cli/store/store.h"

enum { WAIT_MS = 1000, PAUSE_MS = 200 };

/* Returns true for a wish that this machine has not refused before. */
static bool is_new(const struct wishes *wishes, uint64_t hash)
{
    for (size_t i = 0; i < wishes->refused_count && i < WISHES_REFUSED; ++i) {
        if (wishes->refused[i] == hash)
            return false;
    }
    return true;
}

/* Prepares the answer to a wish that may be new. */
static bool can_answer(struct wishes *wishes, size_t size, const uint8_t *id, bool *was_new)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a: an error only costs a hint */
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ id[i]) * UINT64_C(1099511628211);
    *was_new = is_new(wishes, hash);
    if (*was_new && wishes->prepare(wishes->user, size, id))
        return true;
    if (*was_new)
        wishes->refused[wishes->refused_count++ % WISHES_REFUSED] = hash;
    return false;
}

/* ---- a directory ---- */

struct directory_visit {
    struct wishes *wishes;
    bool has_taken;
};

static bool visit_wish(void *user, size_t size, const uint8_t *id)
{
    struct directory_visit *visit = user;
    bool was_new;
    visit->has_taken = can_answer(visit->wishes, size, id, &was_new) &&
                       ingot_persist_take_wish(visit->wishes->store, size, id) == INGOT_SUCCESS;
    return !visit->has_taken;
}

static bool take_from_store(struct wishes *wishes)
{
    char notes[4096];
    struct directory_visit visit = {wishes, false};
    struct pollfd polled = {.fd = wishes->notice, .events = POLLIN}; /* poll ignores -1 */
    if (ingot_persist_visit_wishes(wishes->store, visit_wish, &visit) == INGOT_SUCCESS && visit.has_taken)
        return true;
    if (poll(&polled, 1, wishes->notice >= 0 ? WAIT_MS : PAUSE_MS) > 0)
        (void)read(wishes->notice, notes, sizeof(notes));
    return false;
}

ingot_status_t wishes_open(struct wishes *wishes)
{
    char path[PATH_MAX];
    size_t size = sizeof(path);
    wishes->notice = -1;
    if (wishes->server != NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = ingot_persist_get_wish_folder(wishes->store, &size, path);
    if (status != INGOT_SUCCESS)
        return status;
    wishes->notice = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (wishes->notice >= 0 && inotify_add_watch(wishes->notice, path, IN_MOVED_TO) < 0) {
        (void)close(wishes->notice);
        wishes->notice = -1;
    }
    return INGOT_SUCCESS;
}

/* ---- a server ---- */

#if INGOT_WITH_REMOTE
static bool take_from_server(struct wishes *wishes)
{
    ingot_buffer_t wish = INGOT_BUFFER_INIT;
    bool was_new = false;
    const ingot_status_t status = ingot_remote_take_wish(wishes->server, WAIT_MS, &wish);
    const bool has_taken = status == INGOT_SUCCESS && can_answer(wishes, wish.size, wish.bytes, &was_new);
    if (status == INGOT_SUCCESS && !has_taken && was_new)
        (void)ingot_remote_leave_wish(wishes->server, wish.size, wish.bytes);
    const bool has_failed = status != INGOT_SUCCESS && status != INGOT_NOT_FOUND;
    if (has_failed != wishes->has_failed)
        wishes->tell(wishes->user, has_failed ? ingot_last_error_detail() : "the server answers again");
    wishes->has_failed = has_failed;
    if (has_failed)
        (void)poll(NULL, 0, WAIT_MS);
    store_release_blob(&wish);
    return has_taken;
}
#endif

bool wishes_take(struct wishes *wishes)
{
#if INGOT_WITH_REMOTE
    if (wishes->server != NULL)
        return take_from_server(wishes);
#endif
    return take_from_store(wishes);
}

/*
 * wishes.c - takes wishes; see build.h.
 *
 * A wish is taken before anything is done for it, so that one that crashes a driver does so once. A wish may be for
 * another machine, and is left to it. In a directory it just stays, or is left again once if the driver turns out to be
 * another one. One from a server is left there again, for the next builder that waits. So that a wish whose device
 * nobody has does not go round all the time, a builder that gets it again soon pauses, and after an hour drops it.
 */
#include "cli/build/build.h"

#include <ingot/private/wish.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>
#if INGOT_WITH_REMOTE
#include <ingot/private/remote.h>
#endif

#include "cli/base/base.h"
#include "cli/store/store.h"
#include "util/nanoseconds.h"

enum { WAIT_MS = 1000, PAUSE_MS = 200 };
#define LEAST_PAUSE_NS NS_PER_SECOND
#define MOST_PAUSE_NS (8 * NS_PER_SECOND)
#define TOO_OLD_NS (3600 * NS_PER_SECOND)

static uint64_t hash_of(size_t size, const uint8_t *id)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a: an error only costs a hint */
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ id[i]) * UINT64_C(1099511628211);
    return hash != 0 ? hash : 1;
}

/* Returns a wish that this machine has refused before, or NULL. */
static struct refused_wish *find_refused(const struct wishes *wishes, uint64_t hash)
{
    for (size_t i = 0; i < wishes->refused_count && i < WISHES_REFUSED; ++i) {
        if (wishes->refused[i].hash == hash)
            return &wishes->refused[i];
    }
    return NULL;
}

static struct refused_wish *add_refused(struct wishes *wishes, uint64_t hash)
{
    struct refused_wish *added = &wishes->refused[wishes->refused_count++ % WISHES_REFUSED];
    *added = (struct refused_wish){.hash = hash, .first_ns = nanoseconds_of(CLOCK_MONOTONIC)};
    return added;
}

/* Tells when wishes can no longer be read or taken, and when they can be again. */
static void note_status(struct wishes *wishes, ingot_status_t status, const char *again)
{
    const bool has_failed = status != INGOT_SUCCESS && status != INGOT_NOT_FOUND;
    if (has_failed != wishes->has_failed)
        wishes->tell(wishes->user, has_failed ? ingot_last_error_detail() : again);
    wishes->has_failed = has_failed;
}

/* ---- a directory ---- */

static void free_taken(ingot_buffer_t *taken)
{
    free(taken->owner);
}

struct directory_visit {
    struct wishes *wishes;
    ingot_status_t status; /* of taking one: INGOT_NOT_FOUND if none was taken */
};

static bool visit_wish(void *user, size_t size, const uint8_t *id)
{
    struct directory_visit *visit = user;
    struct wishes *wishes = visit->wishes;
    const uint64_t hash = hash_of(size, id);
    if (find_refused(wishes, hash) != NULL)
        return true;
    if (!wishes->is_ours(wishes->user, size, id)) {
        (void)add_refused(wishes, hash);
        return true;
    }
    visit->status = ingot_persist_take_wish(wishes->store, size, id);
    if (visit->status != INGOT_SUCCESS)
        return visit->status == INGOT_NOT_FOUND; /* another worker was faster */
    uint8_t *bytes = memory_copy(size, id);
    wishes->taken = (ingot_buffer_t){size, bytes, free_taken, bytes};
    return false;
}

static bool take_from_store(struct wishes *wishes)
{
    char notes[4096];
    struct directory_visit visit = {wishes, INGOT_NOT_FOUND};
    struct pollfd polled = {.fd = wishes->notice, .events = POLLIN}; /* poll ignores -1 */
    const ingot_status_t status = ingot_persist_visit_wishes(wishes->store, visit_wish, &visit);
    note_status(wishes, status != INGOT_SUCCESS ? status : visit.status, "the store's wishes can be taken again");
    if (wishes->taken.size != 0)
        return true;
    if (wishes->has_failed)
        (void)poll(NULL, 0, WAIT_MS);
    else if (poll(&polled, 1, wishes->notice >= 0 ? WAIT_MS : PAUSE_MS) > 0)
        while (read(wishes->notice, notes, sizeof(notes)) > 0) {
        }
    return false;
}

ingot_status_t wishes_open(struct wishes *wishes)
{
    char path[PATH_MAX];
    wishes->notice = -1;
    wishes->pause_ns = LEAST_PAUSE_NS;
    wishes->refused = memory_get(WISHES_REFUSED * sizeof(*wishes->refused));
    if (wishes->server != NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = ingot_persist_get_wish_folder(wishes->store, sizeof(path), path);
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
/* Leaves a wish for another machine again. */
static void pass_on(struct wishes *wishes, size_t size, const uint8_t *id)
{
    const uint64_t now_ns = nanoseconds_of(CLOCK_MONOTONIC);
    const uint64_t hash = hash_of(size, id);
    struct refused_wish *refused = find_refused(wishes, hash);
    const bool is_soon = refused != NULL && now_ns - refused->last_ns < wishes->pause_ns;
    if (refused != NULL && now_ns - refused->first_ns > TOO_OLD_NS) {
        refused->hash = 0;
        return;
    }
    if (refused == NULL)
        refused = add_refused(wishes, hash);
    const ingot_status_t status = ingot_remote_leave_wish(wishes->server, size, id);
    if (status != INGOT_SUCCESS && status != INGOT_BUSY) /* busy: its client has left it again, too */
        wishes->tell(wishes->user, ingot_last_error_detail());
    if (is_soon) {
        (void)poll(NULL, 0, (int)(wishes->pause_ns / NS_PER_MS));
        wishes->pause_ns = wishes->pause_ns < MOST_PAUSE_NS ? 2 * wishes->pause_ns : MOST_PAUSE_NS;
    }
    refused->last_ns = nanoseconds_of(CLOCK_MONOTONIC);
}

static bool take_from_server(struct wishes *wishes)
{
    uint8_t request[512];
    size_t request_size = sizeof(request);
    ingot_buffer_t wish = INGOT_BUFFER_INIT;
    const ingot_status_t status = ingot_remote_take_wish(wishes->server, WAIT_MS, &wish);
    note_status(wishes, status, "the server answers again");
    if (status == INGOT_SUCCESS) {
        if (ingot_wish_get_request_id(wish.size, wish.bytes, &request_size, request) != INGOT_SUCCESS) {
            wishes->tell(wishes->user, "a wish of the server is not the id of a program, and is dropped");
        } else if (find_refused(wishes, hash_of(wish.size, wish.bytes)) == NULL &&
                   wishes->is_ours(wishes->user, wish.size, wish.bytes)) {
            wishes->taken = wish;
            wishes->pause_ns = LEAST_PAUSE_NS;
            return true;
        } else {
            pass_on(wishes, wish.size, wish.bytes);
        }
    } else if (status != INGOT_NOT_FOUND) {
        (void)poll(NULL, 0, WAIT_MS);
    }
    store_release_blob(&wish);
    return false;
}
#endif

bool wishes_take(struct wishes *wishes)
{
    store_release_blob(&wishes->taken);
#if INGOT_WITH_REMOTE
    if (wishes->server != NULL)
        return take_from_server(wishes);
#endif
    return take_from_store(wishes);
}

void wishes_refuse(struct wishes *wishes)
{
    const ingot_buffer_t *wish = &wishes->taken;
#if INGOT_WITH_REMOTE
    if (wishes->server != NULL) {
        pass_on(wishes, wish->size, wish->bytes);
        return;
    }
#endif
    (void)add_refused(wishes, hash_of(wish->size, wish->bytes));
    if (ingot_persist_leave_wish(wishes->store, wish->size, wish->bytes) != INGOT_SUCCESS)
        wishes->tell(wishes->user, ingot_last_error_detail());
}

/*
 * build_lock.c - lets only one process at a time build a program, limits how many builds run at the same time, and
 * gives roles to processes, by locks on bytes of the file `lock`; see persist/storage/kinds.h and ingot/private/wish.h.
 *
 * Each program has a byte. A process keeps the byte locked while it builds the program and stores it. If the process
 * ends, the kernel unlocks the byte, so one of the waiting processes takes over.
 *
 * If the program cannot be stored, waiting for it is useless. The process that built it then exchanges its exclusive
 * lock for a shared one. A process that finds a shared lock builds immediately, and holds a shared lock during its
 * build, so that further processes find one, too. Waiting processes look at the lock only from time to time, so the
 * exchanged lock is kept during some further builds. It is not kept much longer than a minute, because the reason may
 * be temporary: as long as the lock is kept, processes that start together all compile the program.
 *
 * Each lock has its own open file, because two builds of one process must not share a lock. The threads of a process
 * that build programs do not wait for each other here, because one may hold a lock of the application that the other
 * needs. A forked child would share the open files and keep its parent's locks alive after the parent's death, so it
 * closes the files right after the fork. It cannot close a file that the parent had opened but not yet put in the list
 * when it forked. A child that was made without the C library's fork closes no files. If such a child keeps a lock
 * alive, other processes wait for that lock until their time limit.
 *
 * The mutex guards the list of this process's locks and places. It is held for a few instructions. It is not taken
 * before a fork, because a thread that holds it could need a lock that another library's fork handler holds. Therefore,
 * the list can be walked at any moment. The child makes the mutex and the list again.
 */
#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/wish.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/entries.h"
#include "persist/directory/state.h"
#include "persist/storage/storage.h"
#include "util/error_text.h"
#include "util/kept_file.h"
#include "util/little_endian.h"
#include "util/nanoseconds.h"

#define MAX_KEPT_NS (60 * NS_PER_SECOND)
#define ATTEMPTS 4u
#define SHARING_NS (2 * NS_PER_SECOND) /* after this wait, a build shares a place of another build of its process */
#define REASON_CAPACITY 256u

/* The lock of a program, or a build's place; see "places" below. */
struct build_lock {
    struct directory *directory;
    uint64_t byte;
    struct kept_file file; /* a forked child has closed it */
    uint64_t stamp;        /* made from the time of change and the inode of the id's entry; 0: no entry */
    char entry[PATH_CAPACITY];
    bool is_held; /* true: held exclusively, or a place that is taken; the mutex guards this field and the next one */
    uint64_t kept_ns;                  /* when keeping it began, in directory->kept_locks */
    uint64_t asked_ns;                 /* of a place: when its build asked for it; 0: the lock of a program */
    _Atomic(struct build_lock *) next; /* written under the mutex */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct build_lock *) newest; /* written under the mutex */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_watching_forks;

/* Called in a forked child right after the fork, in its only thread. */
static void forget_parent_locks(void)
{
    for (struct build_lock *lock = newest; lock != NULL; lock = lock->next)
        kept_file_end(&lock->file);
    newest = NULL;
    pthread_mutex_init(&mutex, NULL);
}

static void watch_forks_for_locks(void)
{
    is_watching_forks = pthread_atfork(NULL, NULL, forget_parent_locks) == 0;
}

/* False if forked children could not be made to close the files. */
static bool children_forget_locks(void)
{
    (void)pthread_once(&once, watch_forks_for_locks);
    return is_watching_forks;
}

static void tell_unlockable(struct directory *directory, int error)
{
    char why[REASON_CAPACITY];
    const uint64_t now_ns = files_steady_clock_ns();
    if (atomic_exchange_explicit(&directory->has_told_unlockable, true, memory_order_relaxed))
        return;
    const ingot_status_t status = files_lock_failed(error, PATHS_LOCK);
    error_text_copy(why, sizeof(why), ingot_last_error_detail());
    (void)ingot_set_error_detail(status, "programs that other processes are compiling are compiled here as well: %s",
                                 why);
    storage_tell(directory->storage, INGOT_EVENT_STORAGE_DEGRADED, status, 0, now_ns, directory->path,
                 ingot_last_error_detail());
}

/* Returns the byte of an id. It depends on the namespace, too, because namespaces have separate programs but share the
 * file `lock`. */
static uint64_t byte_of(const struct directory *directory, const struct checksum *hash)
{
    const char *name = directory->name_space;
    const uint64_t salt = name[0] != '\0' ? checksum_bucket_of(strlen(name), (const uint8_t *)name) : 0;
    return PATHS_BUILD_MIN | ((le_get_u64(hash->bytes) ^ salt) & (PATHS_BUILD_MIN - 1));
}

/* Removes a lock from the list. Requires the mutex. */
static void delist_build_lock(struct build_lock *lock)
{
    _Atomic(struct build_lock *) *at = &newest;
    while (*at != lock)
        at = &(*at)->next;
    *at = lock->next;
}

/* Closes the file of a lock that is not in the list, and frees the lock. Unlocks the byte first, because a forked child
 * may share the open file. */
static void destroy_build_lock(struct build_lock *lock)
{
    if (kept_file_is_open(&lock->file)) {
        (void)files_set_lock(lock->file.fd, lock->byte, FILES_LOCK_NONE);
        kept_file_end(&lock->file);
    }
    const ingot_allocator_t allocator = lock->directory->allocator;
    memory_free(&allocator, lock, sizeof(*lock));
}

/* Opens the file `lock` anew. makes: creates the root if it is missing. Returns a descriptor or a negated errno. */
static int open_lock_file(struct directory *directory, bool makes)
{
    struct root root;
    const bool is_open = root_open(directory, makes, &root) == INGOT_SUCCESS;
    const int fd = is_open ? files_open_update(root.fd, PATHS_LOCK) : -EBADF;
    root_close(&root);
    return fd;
}

/* Puts a new lock in the list. On failure, returns NULL and sets *error to a negated errno. */
static struct build_lock *make_build_lock(struct directory *directory, int *error)
{
    struct kept_file file;
    const int fd = children_forget_locks() ? open_lock_file(directory, true) : -ENOMEM;
    *error = fd < 0 ? fd : kept_file_begin(&file, fd);
    if (*error < 0)
        return NULL;
    struct build_lock *lock = memory_allocate(&directory->allocator, sizeof(*lock));
    if (lock == NULL) {
        kept_file_end(&file);
        *error = -ENOMEM;
        return NULL;
    }
    memset(lock, 0, sizeof(*lock));
    lock->file = file;
    lock->directory = directory;
    pthread_mutex_lock(&mutex);
    atomic_init(&lock->next, newest);
    atomic_store(&newest, lock);
    pthread_mutex_unlock(&mutex);
    return lock;
}

/* Takes a lock or place out of the list, and closes it. */
void build_place_leave(struct build_lock *place)
{
    pthread_mutex_lock(&mutex);
    delist_build_lock(place);
    pthread_mutex_unlock(&mutex);
    destroy_build_lock(place);
}

/* Closes the locks of a store that have been kept for this long. */
static void close_kept(struct directory *directory, uint64_t age_ns)
{
    for (unsigned i = 0; i < STATE_MAX_KEPT; ++i) {
        pthread_mutex_lock(&mutex);
        struct build_lock *lock = directory->kept_locks[i];
        const bool is_old = lock != NULL && files_steady_clock_ns() - lock->kept_ns >= age_ns;
        if (is_old) {
            directory->kept_locks[i] = NULL;
            delist_build_lock(lock);
        }
        pthread_mutex_unlock(&mutex);
        if (is_old)
            destroy_build_lock(lock);
    }
}

struct build_lock *build_lock_open(void *self, size_t id_size, const uint8_t *id)
{
    struct directory *directory = self;
    if (directory->never_waits)
        return NULL;
    int error;
    close_kept(directory, MAX_KEPT_NS);
    struct build_lock *lock = make_build_lock(directory, &error);
    if (lock == NULL) {
        tell_unlockable(directory, error);
        return NULL;
    }
    const struct checksum hash = checksum_of(id_size, id);
    lock->byte = byte_of(directory, &hash);
    paths_entry(lock->entry, directory->name_space, &hash);
    return lock;
}

const char *build_lock_name(const struct build_lock *lock)
{
    return lock->entry;
}

/* True if another build of this process holds the same lock exclusively, or any place if this is a place. */
static bool is_held_here(const struct build_lock *lock)
{
    pthread_mutex_lock(&mutex);
    const struct build_lock *other = newest;
    while (other != NULL && !(other->is_held && other != lock && other->file.inode == lock->file.inode &&
                              other->file.device == lock->file.device &&
                              (other->byte == lock->byte || (lock->asked_ns != 0 && other->asked_ns != 0))))
        other = other->next;
    pthread_mutex_unlock(&mutex);
    return other != NULL;
}

static void note_held(struct build_lock *lock)
{
    pthread_mutex_lock(&mutex);
    lock->is_held = true;
    pthread_mutex_unlock(&mutex);
}

enum build_lock_state build_lock_try_take(struct build_lock *lock)
{
    enum files_lock found = FILES_LOCK_EXCLUSIVE;
    if (is_held_here(lock))
        return BUILD_LOCK_HELD_HERE;
    if (!kept_file_is_open(&lock->file))
        return BUILD_LOCK_UNUSABLE;
    for (unsigned i = 0; i < ATTEMPTS; ++i) {
        int result = files_set_lock(lock->file.fd, lock->byte, FILES_LOCK_EXCLUSIVE);
        if (result == 0) {
            note_held(lock);
            return BUILD_LOCK_TAKEN;
        }
        if (result == -EAGAIN)
            result = files_find_lock(lock->file.fd, lock->byte, &found);
        if (result < 0) {
            tell_unlockable(lock->directory, result);
            return BUILD_LOCK_UNUSABLE;
        }
        if (found == FILES_LOCK_SHARED) {
            /* if this fails, others find a different lock or none */
            (void)files_set_lock(lock->file.fd, lock->byte, FILES_LOCK_SHARED);
            return BUILD_LOCK_POINTLESS;
        }
        if (found == FILES_LOCK_EXCLUSIVE)
            return BUILD_LOCK_BUSY;
    }
    return BUILD_LOCK_BUSY; /* other processes keep taking and releasing the lock */
}

/* Takes the lock together with others who call this. Returns false if somebody has taken it alone. */
static bool try_share(struct build_lock *lock)
{
    return kept_file_is_open(&lock->file) && files_set_lock(lock->file.fd, lock->byte, FILES_LOCK_SHARED) == 0;
}

enum build_lock_state build_lock_look(void *self, size_t id_size, const uint8_t *id)
{
    struct directory *directory = self;
    enum files_lock found = FILES_LOCK_NONE;
    const struct checksum hash = checksum_of(id_size, id);
    const int fd = open_lock_file(directory, false);
    const int result = fd >= 0 ? files_find_lock(fd, byte_of(directory, &hash), &found) : fd;
    if (fd >= 0)
        (void)files_close(fd);
    if (result < 0)
        return BUILD_LOCK_UNUSABLE;
    return found == FILES_LOCK_NONE     ? BUILD_LOCK_TAKEN
           : found == FILES_LOCK_SHARED ? BUILD_LOCK_POINTLESS
                                        : BUILD_LOCK_BUSY;
}

/* True if the id has an entry that it did not have at the last call. */
bool build_lock_has_changed(struct build_lock *lock)
{
    struct file_facts facts;
    uint64_t stamp = 0;
    struct root root;
    const bool is_open = root_open(lock->directory, false, &root) == INGOT_SUCCESS;
    if (is_open && lookup_refresh(&root, lock->entry) != -ENOENT && files_facts_at(root.fd, lock->entry, &facts) == 0)
        stamp = (facts.changed_ns ^ facts.inode << 32) | 1;
    root_close(&root);
    const bool is_new = stamp != 0 && stamp != lock->stamp;
    lock->stamp = stamp;
    return is_new;
}

/* Closes a lock. Keeps one that is exchanged for a shared one, because a build was pointless, in the place of one of
 * the same program or of the oldest one. */
void build_lock_close(struct build_lock *lock, bool is_pointless)
{
    struct directory *directory = lock->directory;
    if (!is_pointless || !try_share(lock)) {
        build_place_leave(lock);
        return;
    }
    pthread_mutex_lock(&mutex);
    unsigned slot = 0;
    while (slot < STATE_MAX_KEPT &&
           (directory->kept_locks[slot] == NULL || directory->kept_locks[slot]->byte != lock->byte))
        ++slot;
    if (slot == STATE_MAX_KEPT)
        slot = directory->next_kept++ % STATE_MAX_KEPT;
    struct build_lock *before = directory->kept_locks[slot];
    directory->kept_locks[slot] = lock;
    lock->is_held = false;
    lock->kept_ns = files_steady_clock_ns();
    if (before != NULL)
        delist_build_lock(before);
    pthread_mutex_unlock(&mutex);
    if (before != NULL)
        destroy_build_lock(before);
}

uint64_t build_lock_wait_ns(const void *self)
{
    const struct directory *directory = self;
    return directory->build_wait_ns;
}

void build_lock_fini(struct directory *directory)
{
    close_kept(directory, 0);
}

/* ---- places ---- */

/*
 * There is one byte for each place. A build tries to lock one after the other until it gets one, so whoever is stopped
 * while it waits keeps nobody waiting. The kernel unlocks the byte of a process that ends, so no place is ever lost.
 * Each build has its own open file here, too, which forked children close.
 */

struct build_lock *build_place_ask(void *self)
{
    struct directory *directory = self;
    int error;
    struct build_lock *place = directory->build_jobs != 0 ? make_build_lock(directory, &error) : NULL;
    if (place != NULL)
        place->asked_ns = files_steady_clock_ns();
    return place;
}

bool build_place_try(struct build_lock *place)
{
    if (!kept_file_is_open(&place->file)) /* the application has closed it, so nothing can be waited for */
        return true;
    for (uint64_t i = 0; i < place->directory->build_jobs && !place->is_held; ++i) {
        place->byte = PATHS_PLACE_MIN + i;
        if (files_set_lock(place->file.fd, place->byte, FILES_LOCK_EXCLUSIVE) == 0)
            note_held(place);
    }
    /* another build of this process that has a place may be waiting for this one */
    return place->is_held || (files_steady_clock_ns() - place->asked_ns >= SHARING_NS && is_held_here(place));
}

/* ---- roles ---- */

/* A role is a lock on a byte, as if it were a program with the role's name as its id. The kernel releases it when its
 * holder ends, however it ends. */

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
    struct build_lock *lock = build_lock_open(directory_of(storage), strlen(role_names[role]), name);
    if (lock == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the store has no build locks");
    const bool is_held = role == INGOT_ROLE_USER ? try_share(lock) : build_lock_try_take(lock) == BUILD_LOCK_TAKEN;
    if (!is_held) {
        build_lock_close(lock, false);
        return ingot_set_error_detail(INGOT_BUSY, "another process has this role");
    }
    *held = (struct ingot_held_role *)lock;
    return INGOT_SUCCESS;
}

void ingot_persist_leave_role(struct ingot_held_role *held)
{
    if (held != NULL)
        build_lock_close((struct build_lock *)held, false);
}

bool ingot_persist_has_role(ingot_storage_t storage, ingot_builder_role_t role)
{
    const uint8_t *name = (const uint8_t *)role_names[role];
    const enum build_lock_state found = storage_check(storage) == INGOT_SUCCESS && directory_of(storage) != NULL
                                            ? build_lock_look(directory_of(storage), strlen(role_names[role]), name)
                                            : BUILD_LOCK_UNUSABLE;
    return found == BUILD_LOCK_BUSY || found == BUILD_LOCK_POINTLESS;
}

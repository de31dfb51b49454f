/*
 * directory.c - opens a directory store, and implements the operations of its storage.
 */
#include "persist/directory/state.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/entries.h"
#include "persist/request/record.h"
#include "persist/storage/storage.h"
#include "util/limit.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#define DEFAULT_MAX_BYTES (UINT64_C(1) << 30)
#define DEFAULT_LOCK_TIMEOUT_MS 200u
#define DEFAULT_LOW_WATER_PERCENT 50u
#define KNOWN_FLAGS                                                                                                    \
    ((uint32_t)INGOT_PERSIST_READ_ONLY | (uint32_t)INGOT_PERSIST_MAKE_PARENTS |                                        \
     (uint32_t)INGOT_PERSIST_NO_BUILD_WAIT | (uint32_t)INGOT_PERSIST_KEEP_REQUESTS)

/* ---- the state (state.h) ---- */

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

/* ---- operations ---- */

/* Reports a load or a store of an id. */
static void tell_use(const struct directory *directory, ingot_event_kind_t kind, ingot_status_t status, size_t bytes,
                     uint64_t started_ns, size_t id_size, const uint8_t *id)
{
    char path[PATH_CAPACITY];
    const struct checksum hash = checksum_of(id_size, id);
    paths_entry(path, directory->name_space, &hash);
    storage_tell(directory->storage, kind, status, bytes, started_ns, path,
                 status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
}

/* Notes the use of an entry that was found. The time of an entry is the time at which its kernel.bin was last modified.
 * A load sets it only if the eviction order depends on it, and at most once per second and entry. If the entry exceeds
 * the age limit, returns INGOT_NOT_FOUND, and removes the entry if the store is writable and its lock is free. A
 * read-only store notes nothing, so there an entry's age counts from the last use that was noted. */
static ingot_status_t note_use(const struct root *root, const struct lookup *found)
{
    if (!root->directory->order->follows_use && root->directory->max_age_ns == UINT64_MAX)
        return INGOT_SUCCESS;
    const uint64_t now_ns = files_wall_clock_ns();
    const uint64_t then_ns = found->time_ns;
    char kernel[PATH_CAPACITY];
    if (directory_age_ns(now_ns, then_ns) > root->directory->max_age_ns) {
        storage_count(root->directory->storage, COUNTER_EXPIRED, 1);
        if (!root->directory->is_read_only)
            (void)lookup_take_away(root, root->directory->name_space, &found->hash, found->inode, 0);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s is older than the age limit", found->path);
    }
    if (!root->directory->order->follows_use || root->directory->is_read_only ||
        then_ns / NS_PER_SECOND == now_ns / NS_PER_SECOND)
        return INGOT_SUCCESS;
    paths_join(kernel, found->path, "kernel.bin");
    const int result = files_set_time(root->fd, kernel, now_ns);
    if (result == 0 || result == -ENOENT) /* -ENOENT: it was evicted meanwhile */
        return INGOT_SUCCESS;
    storage_count(root->directory->storage, COUNTER_UNSTAMPED, 1);
    if (!atomic_exchange_explicit(&root->directory->has_told_unstamped, true, memory_order_relaxed))
        storage_tell(root->directory->storage, INGOT_EVENT_STORAGE_DEGRADED,
                     files_write_failed(result, "noting the use of", found->path), 0, files_steady_clock_ns(),
                     found->path, "uses cannot be recorded, so the oldest entries are evicted first");
    return INGOT_SUCCESS;
}

static ingot_status_t load_from_directory(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct directory *directory = self;
    struct root root;
    struct lookup found;
    const bool is_told = storage_has_listener(directory->storage);
    const uint64_t started_ns = is_told ? files_steady_clock_ns() : 0;
    ingot_status_t status = root_open(directory, false, &root);
    if (status == INGOT_SUCCESS)
        status = lookup_find(&root, id_size, id, &found, blob);
    if (status == INGOT_SUCCESS) {
        status = note_use(&root, &found);
        if (status != INGOT_SUCCESS)
            memory_release_buffer(blob);
    }
    root_close(&root);
    if (is_told)
        tell_use(directory, INGOT_EVENT_STORAGE_LOAD, status, status == INGOT_SUCCESS ? blob->size : 0, started_ns,
                 id_size, id);
    return status;
}

ingot_status_t directory_store(void *self, bool replaces, size_t id_size, const uint8_t *id, size_t blob_size,
                               const uint8_t *blob)
{
    struct directory *directory = self;
    struct root root;
    const bool is_told = storage_has_listener(directory->storage);
    const uint64_t started_ns = is_told ? files_steady_clock_ns() : 0;
    ingot_status_t status = root_open(directory, true, &root);
    if (status == INGOT_SUCCESS) {
        root.file_limit = files_size_limit();
        status = publish_entry(&root, replaces, id_size, id, blob_size, blob);
    }
    root_close(&root);
    if (is_told)
        tell_use(directory, INGOT_EVENT_STORAGE_STORE, status, blob_size, started_ns, id_size, id);
    return status;
}

static ingot_status_t store_in_directory(void *self, size_t id_size, const uint8_t *id, size_t blob_size,
                                         const uint8_t *blob)
{
    return directory_store(self, true, id_size, id, blob_size, blob);
}

static ingot_status_t remove_from_directory(void *self, size_t id_size, const uint8_t *id)
{
    struct directory *directory = self;
    struct root root;
    struct lookup found;
    if (directory->is_read_only)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    ingot_status_t status = root_open(directory, false, &root);
    if (status == INGOT_SUCCESS)
        status = lookup_find(&root, id_size, id, &found, NULL);
    if (status == INGOT_SUCCESS) {
        status = lookup_take_away(&root, directory->name_space, &found.hash, found.inode, account_deadline(directory));
        if (status == INGOT_NOT_FOUND)
            status = INGOT_SUCCESS; /* another process was faster */
    }
    root_close(&root);
    return status;
}

static void destroy_directory(void *self)
{
    struct directory *directory = self;
    if (directory == NULL)
        return;
    if (directory->path[0] != '\0')
        account_settle(directory);
    build_lock_fini(directory);
    const ingot_allocator_t allocator = directory->allocator;
    memory_free(&allocator, directory, sizeof(*directory));
}

/* ---- the limits, which may change while threads use the store: each is independent, and read again where it is
 * needed, so they need no lock ---- */

static void set_limits(struct directory *directory, uint64_t max_bytes, uint64_t max_entries, uint64_t max_age_ms)
{
    directory->max_bytes = limit_of(max_bytes, DEFAULT_MAX_BYTES);
    directory->max_entries = limit_of(max_entries, UINT64_MAX);
    directory->max_age_ns = evict_age_ns(max_age_ms, UINT64_MAX);
}

void directory_get_limits(const void *self, ingot_persist_settings_t *settings)
{
    const struct directory *directory = self;
    const uint64_t age_ns = directory->max_age_ns;
    settings->max_bytes = limit_given(directory->max_bytes);
    settings->max_entries = limit_given(directory->max_entries);
    settings->max_age_ms = age_ns != UINT64_MAX ? limit_given(age_ns / NS_PER_MS) : INGOT_UNLIMITED;
}

void directory_set_limits(void *self, const ingot_persist_settings_t *settings)
{
    struct directory *directory = self;
    set_limits(directory, settings->max_bytes, settings->max_entries, settings->max_age_ms);
    atomic_store_explicit(&directory->owed_limit, 0, memory_order_relaxed); /* there may be no room for it anymore */
}

/* ---- statistics ---- */

ingot_status_t ingot_persist_get_stats(ingot_storage_t storage, ingot_persist_stats_t *stats)
{
    if (!STRUCT_IS_SET(stats))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "stats or its struct_size is missing");
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    struct directory *directory = directory_of(storage);
    ingot_persist_stats_t current = {.struct_size = sizeof(current)};
    storage_fill_stats(storage, &current);
    struct account_total total = {.is_known = false};
    struct root root;
    if (directory != NULL) {
        if (root_open(directory, false, &root) == INGOT_SUCCESS)
            (void)account_peek_own(&root, &total);
        root_close(&root);
    }
    current.bytes = total.bytes;
    (void)STRUCT_WRITE(stats, current);
    return INGOT_SUCCESS;
}

/* ---- opening ---- */

static ingot_status_t check_directory_info(const ingot_persist_info_t *info)
{
    if (info->path == NULL || info->path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's path is missing");
    if (info->name_space != NULL && !paths_is_namespace(info->name_space))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "\"%.80s\" is not the name of a namespace",
                                      info->name_space);
    if (eviction_order_of(info->eviction) == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's eviction is not a valid value");
    if (!storage_is_store_mode(info->store_mode))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's store_mode is not a valid value");
    if (info->on_miss > INGOT_PERSIST_ON_MISS_LATER)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's on_miss is not a valid value");
    if ((info->flags & ~KNOWN_FLAGS) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info has unknown flags");
    if (info->low_water_percent > 100)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's low_water_percent is more than 100");
    if (info->build_jobs == INGOT_NONE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's build_jobs are none, so nothing could be built");
    return INGOT_SUCCESS;
}

static void take_directory_info(struct directory *directory, const ingot_persist_info_t *info)
{
    directory->is_read_only = (info->flags & (uint32_t)INGOT_PERSIST_READ_ONLY) != 0;
    directory->accepts_any_owner = directory->is_read_only && trust_requires_seals(info->trust);
    directory->order = eviction_order_of(info->eviction);
    set_limits(directory, info->max_bytes, info->max_entries, info->max_age_ms);
    directory->min_blob_bytes = limit_of(info->min_blob_bytes, 0);
    directory->max_blob_bytes = limit_of(info->max_blob_bytes, UINT64_MAX);
    directory->low_water_percent = info->low_water_percent != 0 ? info->low_water_percent : DEFAULT_LOW_WATER_PERCENT;
    directory->lock_timeout_ns = limit_time_ns(info->lock_timeout_ms, DEFAULT_LOCK_TIMEOUT_MS);
    directory->never_waits =
        (info->flags & (uint32_t)INGOT_PERSIST_NO_BUILD_WAIT) != 0 || info->build_wait_ms == INGOT_NONE;
    /* 0 would mean that the application has not set it */
    directory->build_wait_ns = info->build_wait_ms != INGOT_NONE ? limit_time_ns(info->build_wait_ms, 0) : 1;
    directory->build_jobs = info->build_jobs < UINT32_MAX ? (uint32_t)info->build_jobs : 0;
    if (info->name_space != NULL)
        memcpy(directory->name_space, info->name_space, strlen(info->name_space) + 1);
}

static ingot_status_t check_name_space(const struct root *root)
{
    const char *name = root->directory->name_space;
    const ingot_status_t status = name[0] != '\0' ? root_check_directory(root, name) : INGOT_SUCCESS;
    return status == INGOT_UNTRUSTED ? status : INGOT_SUCCESS;
}

/* ---- other namespaces ---- */

struct elsewhere {
    const struct root *root;
    size_t id_size;
    const uint8_t *id;
    struct checksum hash;
    char *name_space; /* where to copy the namespace that has the id */
    bool is_found;
};

/* Looks for the id in a namespace. Returns false to stop. */
static bool look_in_name_space(void *user, const char *name)
{
    struct elsewhere *elsewhere = user;
    const struct directory *directory = elsewhere->root->directory;
    char path[PATH_CAPACITY];
    struct key_file key;
    if (strcmp(name, directory->name_space) == 0 || (name[0] != '\0' && !paths_is_namespace(name)))
        return true;
    paths_entry(path, name, &elsewhere->hash);
    const struct entry_place place = {elsewhere->root->fd, path, directory->owner};
    const ingot_status_t status =
        entry_read(&place, elsewhere->id_size, elsewhere->id, &directory->allocator, &key, NULL, NULL, NULL);
    elsewhere->is_found = status == INGOT_SUCCESS;
    if (elsewhere->is_found)
        memcpy(elsewhere->name_space, name, strlen(name) + 1);
    return !elsewhere->is_found;
}

bool directory_find_elsewhere(void *self, size_t id_size, const uint8_t *id,
                              char name_space[STORAGE_NAME_SPACE_CAPACITY])
{
    struct root root;
    struct elsewhere elsewhere = {&root, id_size, id, checksum_of(id_size, id), name_space, false};
    if (root_open(self, false, &root) == INGOT_SUCCESS && look_in_name_space(&elsewhere, ""))
        (void)files_list(root.fd, ".", look_in_name_space, &elsewhere);
    root_close(&root);
    return elsewhere.is_found;
}

const char *directory_name_space(const void *self)
{
    const struct directory *directory = self;
    return directory->name_space;
}

static ingot_status_t open_directory(ingot_storage_t *storage, const ingot_persist_info_t *info)
{
    static const ingot_storage_ops_t ops = {.struct_size = sizeof(ops),
                                            .load = load_from_directory,
                                            .store = store_in_directory,
                                            .remove = remove_from_directory,
                                            .destroy = destroy_directory,
                                            .leave_wish = wishes_leave};
    ingot_allocator_t allocator;
    struct root root;
    ingot_status_t status = check_directory_info(info);
    if (status == INGOT_SUCCESS && memory_init(&allocator, info->allocator) != INGOT_SUCCESS)
        status = ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "an allocator needs both of its functions");
    if (status != INGOT_SUCCESS)
        return status;
    struct directory *directory = memory_allocate(&allocator, sizeof(*directory));
    if (directory == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a store");
    memset(directory, 0, sizeof(*directory));
    directory->allocator = allocator;
    take_directory_info(directory, info);
    status = root_init(directory, info, &root);
    if (status == INGOT_SUCCESS)
        status = check_name_space(&root);
    if (status != INGOT_SUCCESS)
        goto done;
    status =
        storage_create(storage, STORAGE_DIRECTORY, &ops, directory, &allocator, info, directory->accepts_any_owner);
    if (status != INGOT_SUCCESS)
        goto done;
    directory->storage = *storage;
    if (!directory->is_read_only)
        evict_expired(&root); /* only now, when opening can no longer fail */
    record_begin(*storage, info);
    directory = NULL; /* the storage owns it now */
done:
    root_close(&root);
    destroy_directory(directory);
    return status;
}

ingot_status_t ingot_persist_open(ingot_storage_t *storage, const ingot_persist_info_t *given)
{
    ingot_persist_info_t info;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    if (!STRUCT_READ(info, given))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info or its struct_size is missing");
    return (info.flags & (uint32_t)INGOT_PERSIST_FROM_ENVIRONMENT) != 0
               ? persist_environment_open(storage, given, NULL, NULL)
               : open_directory(storage, &info);
}

bool directory_is_own(ingot_storage_t storage)
{
    struct directory *directory = directory_of(storage);
    struct root root;
    if (directory == NULL || directory->owner != files_user())
        return false;
    if (directory->name_space[0] == '\0')
        return true;
    const bool is_private =
        root_open(directory, false, &root) == INGOT_SUCCESS && check_name_space(&root) == INGOT_SUCCESS;
    root_close(&root);
    return is_private;
}

const char *directory_path(ingot_storage_t storage)
{
    return directory_of(storage) != NULL ? directory_of(storage)->path : NULL;
}

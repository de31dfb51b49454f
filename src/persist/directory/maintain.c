/*
 * maintain.c - returns a store's statistics, evicts and recounts on request, and removes what an earlier format left.
 */
#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/directory.h>

#include "persist/base/files.h"
#include "persist/directory/account.h"
#include "persist/directory/evict.h"
#include "persist/directory/state.h"
#include "persist/storage/storage.h"
#include "util/limit.h"
#include "util/struct_size.h"

ingot_status_t ingot_persist_get_stats(ingot_storage_t storage, ingot_persist_stats_t *stats)
{
    if (!STRUCT_IS_SET(stats))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "stats or its struct_size is missing");
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    struct directory *directory = directory_of(storage);
    ingot_persist_stats_t current = {.struct_size = sizeof(current)};
    storage_fill_stats(storage, directory != NULL ? &directory->counters : NULL, &current);
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

ingot_status_t ingot_persist_evict(ingot_storage_t storage, const ingot_persist_limits_t *limits, uint64_t *entry_count,
                                   uint64_t *bytes)
{
    struct root root = {NULL, -1};
    struct upkeep_watch watch = upkeep_watch_of(NULL, NULL);
    ingot_persist_limits_t known = INGOT_PERSIST_LIMITS_INIT;
    ingot_persist_count_t counted;
    ingot_status_t status = INGOT_INVALID_ARGUMENTS;
    if (!STRUCT_READ_OVER(known, limits))
        (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "limits or its struct_size is missing");
    else
        status = root_open_of(storage, true, &root);
    if (status == INGOT_SUCCESS) {
        const struct directory *directory = root.directory;
        const struct evict_limits wanted = {limit_of(known.max_bytes, directory->max_bytes),
                                            limit_of(known.max_entries, directory->max_entries),
                                            evict_age_ns(known.max_age_ms, directory->max_age_ns)};
        watch = upkeep_watch_of(known.on_progress, known.user);
        status = evict_on_request(&root, &wanted, &watch, &counted);
        if (status == INGOT_SUCCESS)
            status = watch.ended;
    }
    root_close(&root);
    if (entry_count != NULL)
        *entry_count = watch.progress.removed_count;
    if (bytes != NULL)
        *bytes = watch.progress.removed_bytes;
    return status;
}

ingot_status_t ingot_persist_recount(ingot_storage_t storage, ingot_persist_count_t *count)
{
    struct root root;
    struct upkeep_watch nobody = upkeep_watch_of(NULL, NULL);
    ingot_status_t status = root_open_of(storage, false, &root);
    if (status == INGOT_SUCCESS)
        status = evict_on_request(&root, NULL, &nobody, count);
    root_close(&root);
    return status;
}

/* ---- stores from before version 1.0 ---- */

/* What an earlier format left in a store. */
struct old_format {
    const struct root *root;
    const char *name_space;
    bool is_removing;
    uint64_t count;
    int result;
};

/* Visits a name in a namespace. If that is the root, visits the names in a namespace that has this name, too. */
static bool visit_old(void *user, const char *name)
{
    struct old_format *old = user;
    const uint32_t owner = old->root->directory->owner;
    char path[PATH_CAPACITY];
    struct file_facts facts;
    const bool is_old = paths_is_of_old_store(name);
    if (!is_old && (old->name_space[0] != '\0' || !paths_is_namespace(name)))
        return true;
    paths_in_name_space(path, old->name_space, name);
    if (files_facts_at(old->root->fd, path, &facts) < 0 || !files_are_own(&facts, owner))
        return true;
    if (is_old) {
        ++old->count;
        const int result = old->is_removing ? files_remove_tree(old->root->fd, path) : 0;
        old->result = result < 0 && result != -ENOENT ? result : old->result;
    } else if (facts.is_directory && files_are_private(&facts, owner)) {
        struct old_format inner = *old;
        inner.name_space = name;
        (void)files_list(old->root->fd, name, visit_old, &inner);
        old->count = inner.count;
        old->result = inner.result;
    }
    return true;
}

ingot_status_t ingot_persist_find_old(ingot_storage_t storage, int remove, uint64_t *count)
{
    struct root root;
    ingot_status_t status = root_open_of(storage, remove != 0, &root);
    struct old_format old = {.root = &root, .name_space = "", .is_removing = remove != 0};
    if (status == INGOT_SUCCESS) {
        const char *only = directory_name_space(root.directory);
        const int result = only == NULL ? files_list(root.fd, ".", visit_old, &old) : 0;
        if (only != NULL)
            (void)visit_old(&old, only);
        if (result < 0)
            status = files_read_failed(result, "listing", "the store");
        else if (old.result < 0)
            status = files_write_failed(old.result, "removing", "entries of an earlier format");
    }
    root_close(&root);
    *count = old.count;
    return status;
}

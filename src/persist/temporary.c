/*
 * temporary.c - the place where entries are prepared and where they go before they are deleted.
 *
 * Nothing here is ever loaded, so whatever is left behind is harmless and only takes space until it is old.
 */
#include "persist/temporary.h"

#include <errno.h>
#include <ingot/backend.h>

#include "persist/entry.h"
#include "persist/files.h"

#define TEMPORARY "tmp"
#define ATTEMPTS 16
#define NAME_STEP UINT64_C(0x9e3779b97f4a7c15) /* odd: all names differ */
#define OLD_NS (UINT64_C(3600) * 1000000000u)

ingot_status_t temporary_ready(const struct directory *directory)
{
    struct file_facts facts;
    int result = files_facts_at(directory->root, TEMPORARY, &facts);
    if (result == -ENOENT) {
        result = files_make_directory(directory->root, TEMPORARY);
        if (result == 0 || result == -EEXIST)
            result = files_facts_at(directory->root, TEMPORARY, &facts);
    }
    if (result < 0)
        return files_write_failed(result, "making", TEMPORARY);
    if (!facts.is_directory || !files_are_private(&facts, directory->owner))
        return files_untrusted(&facts, true, directory->owner, TEMPORARY);
    return INGOT_SUCCESS;
}

/* The random number is this open store's, so names differ between stores; the process is in them because of fork. */
void temporary_name(struct directory *directory, char path[PATH_CAPACITY])
{
    const uint64_t bits = atomic_fetch_add_explicit(&directory->name_bits, NAME_STEP, memory_order_relaxed);
    paths_temporary(path, TEMPORARY, files_process(), bits);
}

ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY])
{
    int result = -EEXIST;
    for (int i = 0; i < ATTEMPTS && result == -EEXIST; ++i) {
        temporary_name(directory, path);
        result = files_make_directory(directory->root, path);
    }
    return result < 0 ? files_write_failed(result, "making", "a temporary entry") : INGOT_SUCCESS;
}

void temporary_delete(const struct directory *directory, const char *path)
{
    char file[PATH_CAPACITY];
    paths_join(file, path, "key.bin");
    (void)files_remove(directory->root, file);
    paths_join(file, path, "kernel.bin");
    (void)files_remove(directory->root, file);
    const int result = files_remove_directory(directory->root, path);
    if (result == -ENOTEMPTY || result == -EEXIST || result == -ENOTDIR)
        (void)files_remove_tree(directory->root, path);
}

struct reclaim {
    const struct directory *directory;
    uint64_t now_ns;
};

static bool reclaim_one(void *user, const char *name)
{
    const struct reclaim *reclaim = user;
    char path[PATH_CAPACITY];
    struct file_facts facts;
    if (!paths_is_temporary(name))
        return true;
    paths_join(path, TEMPORARY, name);
    if (files_facts_at(reclaim->directory->root, path, &facts) < 0)
        return true;
    const uint64_t age_ns = reclaim->now_ns > facts.modified_ns ? reclaim->now_ns - facts.modified_ns
                                                               : facts.modified_ns - reclaim->now_ns;
    if (age_ns > OLD_NS)
        temporary_delete(reclaim->directory, path);
    return true;
}

void temporary_reclaim(const struct directory *directory)
{
    struct reclaim reclaim = {directory, files_wall_clock_ns()};
    if (temporary_ready(directory) == INGOT_SUCCESS)
        (void)files_list(directory->root, TEMPORARY, reclaim_one, &reclaim);
}

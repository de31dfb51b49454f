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

#define ATTEMPTS 16
#define OLD_NS (UINT64_C(3600) * 1000000000u)

ingot_status_t temporary_open(const struct directory *directory, int *at)
{
    int fd = files_open_place(directory->root, "tmp");
    if (fd == -ENOENT) {
        const int made = files_make_directory(directory->root, "tmp");
        if (made < 0 && made != -EEXIST)
            return files_write_failed(made, "making", "tmp");
        fd = files_open_place(directory->root, "tmp");
    }
    if (fd < 0)
        return files_write_failed(fd, "opening", "tmp");
    struct file_facts facts;
    if (files_facts(fd, &facts) < 0 || !facts.is_private) {
        (void)files_close(fd);
        return ingot_set_error_detail(INGOT_UNTRUSTED, "tmp is another user's or writable by others");
    }
    *at = fd;
    return INGOT_SUCCESS;
}

void temporary_name(char name[PATH_CAPACITY])
{
    paths_temporary(name, files_process(), files_random());
}

ingot_status_t temporary_make(int at, char name[PATH_CAPACITY])
{
    int result = -EEXIST;
    for (int i = 0; i < ATTEMPTS && result == -EEXIST; ++i) {
        temporary_name(name);
        result = files_make_directory(at, name);
    }
    return result < 0 ? files_write_failed(result, "making", "a temporary entry") : INGOT_SUCCESS;
}

void temporary_delete(int at, const char *name)
{
    char path[PATH_CAPACITY];
    paths_join(path, name, "key.bin");
    (void)files_remove(at, path);
    paths_join(path, name, "kernel.bin");
    (void)files_remove(at, path);
    const int result = files_remove_directory(at, name);
    if (result == -ENOTEMPTY || result == -EEXIST || result == -ENOTDIR)
        (void)files_remove_tree(at, name);
}

struct reclaim {
    int at;
    uint64_t now_ns;
};

static bool reclaim_one(void *user, const char *name)
{
    const struct reclaim *reclaim = user;
    struct file_facts facts;
    if (!paths_is_temporary(name) || files_facts_at(reclaim->at, name, &facts) < 0)
        return true;
    const uint64_t age_ns = reclaim->now_ns > facts.modified_ns ? reclaim->now_ns - facts.modified_ns
                                                               : facts.modified_ns - reclaim->now_ns;
    if (age_ns > OLD_NS)
        temporary_delete(reclaim->at, name);
    return true;
}

void temporary_reclaim(const struct directory *directory)
{
    struct reclaim reclaim = {-1, files_wall_clock_ns()};
    if (temporary_open(directory, &reclaim.at) != INGOT_SUCCESS)
        return;
    (void)files_list(directory->root, "tmp", reclaim_one, &reclaim);
    (void)files_close(reclaim.at);
}

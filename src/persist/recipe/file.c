/*
 * file.c - opens, checks and locks a recipe file by its path; see file.h.
 */
#include "persist/recipe/file.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#define LOCK_PAUSE_NS UINT64_C(1000000)

/* Makes the file's directory, whose own parent must exist. Returns a negated errno. */
static int make_recipe_directory(const char *path)
{
    char directory[4096];
    const int length = snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path), path);
    if (length < 0 || (size_t)length >= sizeof(directory))
        return -ENAMETOOLONG;
    const int made = files_make_root(directory, false);
    return made < 0 ? made : files_close(made);
}

int recipe_file_open(const char *path, bool makes_directory)
{
    const char *name;
    int parent = files_open_parent(path, &name);
    if (parent == -ENOENT && makes_directory) {
        const int result = make_recipe_directory(path);
        parent = result == 0 ? files_open_parent(path, &name) : result;
    }
    if (parent < 0)
        return parent;
    const int fd = files_open_update(parent, name);
    (void)files_close(parent);
    return fd;
}

int recipe_file_facts(const char *path, struct file_facts *facts)
{
    const char *name;
    const int parent = files_open_parent(path, &name);
    if (parent < 0)
        return parent;
    const int result = files_facts_at(parent, name, facts);
    (void)files_close(parent);
    return result;
}

bool recipe_file_is_unchanged(const struct file_facts *before, const struct file_facts *now)
{
    return before->device == now->device && before->inode == now->inode && before->size_bytes == now->size_bytes &&
           before->modified_ns == now->modified_ns && before->owner == now->owner && before->mode == now->mode;
}

ingot_status_t recipe_file_check(int fd, const char *path, struct file_facts *facts)
{
    const int result = files_facts(fd, facts);
    if (result < 0)
        return files_write_failed(result, "examining", path);
    if (!facts->is_file || !files_are_private(facts, files_user()))
        return files_untrusted(facts, false, files_user(), path);
    return INGOT_SUCCESS;
}

ingot_status_t recipe_file_lock(int fd, const char *path, uint64_t timeout_ns)
{
    const uint64_t started_ns = files_steady_clock_ns();
    int result = files_try_lock(fd, 0);
    while (result == -EAGAIN && files_steady_clock_ns() - started_ns < timeout_ns) {
        files_pause_ns(LOCK_PAUSE_NS);
        result = files_try_lock(fd, 0);
    }
    return result < 0 ? files_lock_failed(result, path) : INGOT_SUCCESS;
}

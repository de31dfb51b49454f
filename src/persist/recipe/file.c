/*
 * file.c - opens, checks and locks a recipe file by its path, recognizes a file that was read before, and remembers why
 * an addition failed; see file.h.
 */
#include "persist/recipe/file.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/memory.h"

#define LOCK_PAUSE_NS UINT64_C(1000000)
#define RETRY_NS UINT64_C(30000000000)

ingot_status_t recipe_file_absolute(const char *path, const ingot_allocator_t *allocator, char **absolute, size_t *size)
{
    char directory[4096] = "";
    if (path[0] != '/') {
        const int result = files_working_directory(directory, sizeof(directory));
        if (result < 0)
            return files_read_failed(result, "finding the working directory for", path);
    }
    const size_t length = strlen(directory);
    *size = length + 1 + strlen(path) + 1;
    *absolute = memory_allocate(allocator, *size);
    if (*absolute == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the path %s", path);
    memcpy(*absolute, directory, length);
    (*absolute)[length] = '/';
    memcpy(*absolute + length + (length != 0), path, strlen(path) + 1);
    return INGOT_SUCCESS;
}

/* Makes the file's directory, whose own parent must exist. Returns a negated errno. */
static int make_directory(const char *path)
{
    char directory[4096];
    const char *name;
    const size_t length = (size_t)(strrchr(path, '/') - path);
    if (length >= sizeof(directory))
        return -ENAMETOOLONG;
    memcpy(directory, path, length);
    directory[length] = '\0';
    const int parent = files_open_parent(directory, &name);
    if (parent < 0)
        return parent;
    const int result = files_make_directory(parent, name);
    (void)files_close(parent);
    return result == -EEXIST ? 0 : result;
}

int recipe_file_open(const char *path, bool makes_directory)
{
    const char *name;
    int parent = files_open_parent(path, &name);
    if (parent == -ENOENT && makes_directory) {
        const int result = make_directory(path);
        parent = result == 0 ? files_open_parent(path, &name) : result;
    }
    if (parent < 0)
        return parent;
    const int fd = files_open_update(parent, name);
    (void)files_close(parent);
    return fd;
}

int recipe_file_open_existing(const char *path)
{
    const char *name;
    const int parent = files_open_parent(path, &name);
    if (parent < 0)
        return parent;
    const int fd = files_open_read_write(parent, name);
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

static int try_lock(int fd, bool is_shared)
{
    return is_shared ? files_try_lock_shared(fd, 0) : files_try_lock(fd, 0);
}

ingot_status_t recipe_file_lock(int fd, const char *path, bool is_shared, uint64_t timeout_ns)
{
    const uint64_t started_ns = files_steady_clock_ns();
    int result = try_lock(fd, is_shared);
    while (result == -EAGAIN && files_steady_clock_ns() - started_ns < timeout_ns) {
        files_pause_ns(LOCK_PAUSE_NS);
        result = try_lock(fd, is_shared);
    }
    return result < 0 ? files_lock_failed(result, path) : INGOT_SUCCESS;
}

/* ---- recognizing a file ---- */

static bool may_fit(const struct recipe_mark *mark, const struct file_facts *facts, uint64_t end)
{
    return facts->device == mark->facts.device && facts->inode == mark->facts.inode && facts->size_bytes >= end;
}

bool recipe_mark_fits(struct recipe_mark *mark, int fd, const struct file_facts *facts, uint64_t end)
{
    uint8_t header[RECIPE_MARK_SIZE];
    size_t got = 0;
    if (!may_fit(mark, facts, end))
        return false;
    if (mark->last != 0 && (files_read(fd, mark->last, sizeof(header), header, &got) < 0 || got != sizeof(header) ||
                            memcmp(header, mark->header, sizeof(header)) != 0))
        return false;
    mark->facts = *facts;
    return true;
}

/* Opens the file at the path, and compares it with the marked file. True if it is a different file, or is missing. */
static bool was_replaced(struct recipe_mark *mark, const char *path, uint64_t end)
{
    struct file_facts facts;
    const int fd = recipe_file_open_existing(path);
    if (fd < 0)
        return fd == -ENOENT;
    const bool was = files_facts(fd, &facts) == 0 && !recipe_mark_fits(mark, fd, &facts, end);
    (void)files_close(fd);
    return was;
}

bool recipe_mark_is_gone(struct recipe_mark *mark, const char *path, uint64_t end)
{
    struct file_facts facts;
    const int result = recipe_file_facts(path, &facts);
    if (result < 0)
        return result == -ENOENT || result == -ENOTDIR;
    if (recipe_file_is_unchanged(&mark->facts, &facts))
        return false;
    return !may_fit(mark, &facts, end) || was_replaced(mark, path, end);
}

ingot_status_t recipe_mark_read(struct recipe_mark *mark, int fd, const char *path, uint64_t last)
{
    mark->last = last;
    return files_read_all(fd, path, last, sizeof(mark->header), mark->header);
}

/* ---- remembering a failure ---- */

void recipe_failure_note(struct recipe_failure *failure, ingot_status_t status, const char *path)
{
    failure->status = status;
    failure->noted_ns = files_steady_clock_ns();
    (void)snprintf(failure->detail, sizeof(failure->detail), "%s", ingot_last_error_detail());
    failure->result = recipe_file_facts(path, &failure->facts);
}

ingot_status_t recipe_failure_check(const struct recipe_failure *failure, const char *path)
{
    struct file_facts facts;
    if (failure->status == INGOT_SUCCESS || files_steady_clock_ns() - failure->noted_ns >= RETRY_NS)
        return INGOT_SUCCESS;
    const int result = recipe_file_facts(path, &facts);
    if (failure->status == INGOT_NO_SPACE && result == 0)
        facts.modified_ns = failure->facts.modified_ns; /* another process may have tried in vain to append */
    if (result != failure->result || (result == 0 && !recipe_file_is_unchanged(&failure->facts, &facts)))
        return INGOT_SUCCESS;
    return ingot_set_error_detail(failure->status, "%s", failure->detail);
}

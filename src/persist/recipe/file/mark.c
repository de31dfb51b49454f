/*
 * mark.c - recognizes a recipe file that was read before; see mark.h.
 */
#include "persist/recipe/file/mark.h"

#include <errno.h>
#include <string.h>

#include "persist/recipe/file/open.h"

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

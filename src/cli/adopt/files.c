/*
 * files.c - reads and writes the files of a directory; see files.h.
 */
#include "cli/adopt/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/folder.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "util/nanoseconds.h"

enum { MAX_DEPTH = 16, MAX_BYTES = 1 << 30 };

/* Closes `fd`. `prefix` is NULL in the directory itself. */
static void walk_folder(int fd, const char *prefix, unsigned depth, void (*found)(void *, const char *), void *user)
{
    DIR *stream = depth < MAX_DEPTH ? fdopendir(fd) : NULL;
    const struct dirent *item;
    while (stream != NULL && (item = readdir(stream)) != NULL) {
        struct stat about;
        if (folder_is_dot(item->d_name) || strncmp(item->d_name, ADOPT_TEMPORARY, strlen(ADOPT_TEMPORARY)) == 0 ||
            fstatat(fd, item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        char *path =
            prefix != NULL ? text_append(memory_copy_text(prefix), "/", item->d_name) : memory_copy_text(item->d_name);
        if (S_ISREG(about.st_mode))
            found(user, path);
        const int below = S_ISDIR(about.st_mode) ? folder_open(fd, item->d_name, false) : -1;
        if (below >= 0)
            walk_folder(below, path, depth + 1, found, user);
        free(path);
    }
    if (stream != NULL)
        (void)closedir(stream);
    else
        (void)close(fd);
}

void adopt_files_walk(int directory, void (*found)(void *user, const char *path), void *user)
{
    const int fd = folder_open(directory, ".", false);
    if (fd >= 0)
        walk_folder(fd, NULL, 0, found, user);
}

static bool read_whole_file(int fd, struct adopt_content *content)
{
    struct stat before;
    struct stat after;
    if (fstat(fd, &before) != 0 || !S_ISREG(before.st_mode) || before.st_size > MAX_BYTES)
        return false;
    content->size = (size_t)before.st_size;
    content->bytes = memory_get(content->size + 1);
    content->is_executable = (before.st_mode & S_IXUSR) != 0;
    size_t done = 0;
    ssize_t count = 1;
    while (count > 0 && done <= content->size) {
        count = read(fd, content->bytes + done, content->size + 1 - done);
        done += count > 0 ? (size_t)count : 0;
    }
    if (count == 0 && done == content->size && fstat(fd, &after) == 0 && after.st_size == before.st_size &&
        after.st_mtim.tv_sec == before.st_mtim.tv_sec && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
        return true;
    free(content->bytes);
    content->bytes = NULL;
    return false;
}

bool adopt_files_read(int directory, const char *path, struct adopt_content *content)
{
    const char *name = NULL;
    const int parent = folder_open_below(directory, path, false, &name);
    const int fd = parent >= 0 ? openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    *content = (struct adopt_content){0, NULL, false};
    const bool is_read = fd >= 0 && read_whole_file(fd, content);
    if (fd >= 0)
        (void)close(fd);
    if (parent >= 0)
        (void)close(parent);
    return is_read;
}

bool adopt_files_read_path(const char *path, struct adopt_content *content)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *content = (struct adopt_content){0, NULL, false};
    const bool is_read = fd >= 0 && read_whole_file(fd, content);
    if (fd >= 0)
        (void)close(fd);
    return is_read;
}

static bool set_time(int fd, uint64_t modified_ns)
{
    const struct timespec times[] = {{0, UTIME_OMIT},
                                     {(time_t)(modified_ns / NS_PER_SECOND), (long)(modified_ns % NS_PER_SECOND)}};
    return futimens(fd, times) == 0;
}

bool adopt_files_write(int directory, const char *path, const struct adopt_content *content, uint64_t modified_ns)
{
    char temporary[64];
    const char *name = NULL;
    const int parent = folder_open_below(directory, path, true, &name);
    if (parent < 0)
        return false;
    (void)snprintf(temporary, sizeof(temporary), ADOPT_TEMPORARY "%ld", (long)getpid());
    (void)unlinkat(parent, temporary, 0);
    const int fd = openat(parent, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          content->is_executable ? 0777 : 0666);
    bool is_written = fd >= 0 && folder_write(fd, content->size, content->bytes) && set_time(fd, modified_ns);
    if (fd >= 0)
        is_written = close(fd) == 0 && is_written;
    is_written = is_written && renameat(parent, temporary, parent, name) == 0;
    const int error = errno;
    if (!is_written && fd >= 0)
        (void)unlinkat(parent, temporary, 0);
    (void)close(parent);
    errno = error;
    return is_written;
}

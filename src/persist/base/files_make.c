/*
 * files_make.c - creates directories, and closes them to other users.
 *
 * Permissions are changed through a descriptor, never by path: when root works in another user's directory, that user
 * can replace a file with a link at any moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "persist/base/files.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* the same number on all processors */
#endif

/* Changes the permissions of an open file or directory. The handle may have been opened with O_PATH. */
static int change_mode(int handle, mode_t mode)
{
    char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
    if (chmod(path, mode) == 0)
        return 0;
    if (errno != ENOENT && errno != ENOTDIR)
        return -errno;
    return syscall(SYS_fchmodat2, handle, "", mode, AT_EMPTY_PATH) == 0 ? 0 : -errno; /* without /proc */
}

int files_make_private(int at, const char *path)
{
    struct stat about;
    const int handle = files_open_place(at, path);
    if (handle < 0)
        return handle;
    int result = fstat(handle, &about) == 0 ? 0 : -errno;
    if (result == 0)
        result = about.st_uid == geteuid() ? change_mode(handle, S_IRWXU) : -EACCES;
    (void)close(handle);
    return result;
}

int files_make_directory(int at, const char *path)
{
    return files_result_of(mkdirat(at, path, S_IRWXU));
}

/* Creates the last component of a path, unless it exists, and opens it. Closes `parent`. */
static int make_below(int parent, const char *name)
{
    const int made = files_make_directory(parent, name);
    const int handle = made == 0 || made == -EEXIST ? files_open_place(parent, name) : made;
    (void)close(parent);
    return handle;
}

/* Opens the directory of the first `length` characters of a path. Links in it are followed, because the user chose
 * them. */
static int open_existing(const char *path, size_t length)
{
    char copy[PATH_MAX];
    if (length >= sizeof(copy))
        return -ENAMETOOLONG;
    memcpy(copy, path, length);
    copy[length] = '\0';
    return files_result_of(open(length != 0 ? copy : "/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Returns the length of a path without its last component. */
static size_t parent_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        --length;
    while (length > 0 && path[length - 1] == '/')
        --length;
    return length;
}

int files_make_root(const char *path, bool makes_parents)
{
    size_t length = parent_length(path, strlen(path));
    int handle = open_existing(path, length);
    while (handle == -ENOENT && makes_parents && length > 0) {
        length = parent_length(path, length);
        handle = open_existing(path, length);
    }
    while (handle >= 0 && path[length] != '\0') {
        char name[NAME_MAX + 1];
        length += strspn(path + length, "/");
        const size_t size = strcspn(path + length, "/");
        if (size == 0)
            break;
        if (size > NAME_MAX) {
            (void)close(handle);
            return -ENAMETOOLONG;
        }
        memcpy(name, path + length, size);
        name[size] = '\0';
        handle = make_below(handle, name);
        length += size;
    }
    return handle;
}

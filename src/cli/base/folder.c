/*
 * folder.c - opens, creates and removes folders through descriptors; see folder.h.
 */
#include "cli/base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/memory.h"

enum { MAX_DEPTH = 16 };

/* Opens the folder in which an object is, and sets *name to the object's name. */
static int open_parent(const char *path, const char **name)
{
    char *copy = memory_copy_text(path);
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    char *slash = strrchr(copy, '/');
    *name = path + (slash != NULL ? slash + 1 - copy : 0);
    if (slash != NULL)
        slash[slash == copy] = '\0';
    const int fd = open(slash != NULL ? copy : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    return fd;
}

/* Opens a folder that is not a link. */
static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int folder_make(int at, const char *name)
{
    return mkdirat(at, name, 0777) == 0 ? open_folder(at, name) : -1;
}

int folder_open_output(const char *path)
{
    const char *name;
    const int parent = open_parent(path, &name);
    int fd = parent < 0 ? -1 : folder_make(parent, name);
    if (parent >= 0 && fd < 0 && (errno == EEXIST || name[0] == '\0'))
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* it is the user's own choice, even if it is a link */
    const int error = errno;
    if (parent >= 0)
        (void)close(parent);
    errno = error;
    return fd;
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool write_all(int fd, size_t size, const void *bytes)
{
    const char *rest = bytes;
    while (size != 0) {
        const ssize_t written = write(fd, rest, size);
        if (written < 0 && errno != EINTR)
            return false;
        rest += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

bool folder_create_file(int at, const char *name, size_t size, const void *bytes)
{
    const int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    const bool is_written = fd >= 0 && write_all(fd, size, bytes);
    const int error = errno;
    const bool is_closed = fd >= 0 && close(fd) == 0;
    if (!is_written)
        errno = error;
    return is_written && is_closed;
}

static bool is_own_folder(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return false;
    if (about.st_uid != geteuid())
        errno = EPERM;
    return about.st_uid == geteuid();
}

/* Removes what is in the folder. Closes `fd`. */
static bool remove_content(int fd, unsigned depth)
{
    DIR *stream = depth < MAX_DEPTH && is_own_folder(fd) ? fdopendir(fd) : NULL;
    bool is_empty = stream != NULL;
    const struct dirent *item;
    while (is_empty && (item = readdir(stream)) != NULL) {
        if (is_dot(item->d_name) || unlinkat(fd, item->d_name, 0) == 0)
            continue;
        const int below = errno == EISDIR || errno == EPERM ? open_folder(fd, item->d_name) : -1;
        is_empty = below >= 0 && remove_content(below, depth + 1) && unlinkat(fd, item->d_name, AT_REMOVEDIR) == 0;
    }
    const int error = errno;
    if (stream != NULL)
        (void)closedir(stream);
    else
        (void)close(fd);
    errno = error;
    return is_empty;
}

bool folder_remove(const char *path)
{
    const char *name;
    const int parent = open_parent(path, &name);
    if (parent < 0)
        return false;
    const int fd = open_folder(parent, name);
    const bool is_removed = fd >= 0 && remove_content(fd, 0) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
    const int error = errno;
    (void)close(parent);
    errno = error;
    return is_removed;
}

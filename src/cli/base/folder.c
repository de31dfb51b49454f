/*
 * folder.c - removes folders; see folder.h.
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

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
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

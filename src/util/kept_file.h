/*
 * kept_file.h - recognizes a descriptor that stays open between calls.
 *
 * An application may close descriptors that it did not open, as daemons do when they start. The next file that it opens
 * gets the lowest free number, which may be one that Ingot still remembers. Therefore, a descriptor that is kept is
 * compared with the file that was opened, before each use and before it is closed. A descriptor that refers to another
 * file belongs to the application: it is neither used nor closed.
 */
#ifndef INGOT_UTIL_KEPT_FILE_H
#define INGOT_UTIL_KEPT_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_FILE_INIT                                                                                                 \
    {                                                                                                                  \
        -1, 0, 0                                                                                                       \
    }

struct kept_file {
    int fd; /* -1: none */
    uint64_t device;
    uint64_t inode;
};

/* Begins to keep a descriptor. If the kernel does not tell what it refers to, closes it and returns a negated errno. */
static inline int kept_file_begin(struct kept_file *file, int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        const int error = -errno;
        (void)close(fd);
        return error;
    }
    file->fd = fd;
    file->device = (uint64_t)about.st_dev;
    file->inode = (uint64_t)about.st_ino;
    return 0;
}

/* True if a descriptor is kept and was not closed by others. */
static inline bool kept_file_is_open(const struct kept_file *file)
{
    struct stat about;
    return file->fd >= 0 && fstat(file->fd, &about) == 0 && file->device == (uint64_t)about.st_dev &&
           file->inode == (uint64_t)about.st_ino;
}

/* Ends keeping a descriptor. Closes it unless others have closed it. */
static inline void kept_file_end(struct kept_file *file)
{
    if (kept_file_is_open(file))
        (void)close(file->fd);
    file->fd = -1;
}

#endif

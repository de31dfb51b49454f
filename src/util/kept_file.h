/*
 * kept_file.h - recognizes a descriptor that stays open between calls.
 *
 * An application may close descriptors that it did not open, as daemons do when they start. The next file that it opens
 * gets the lowest free number, which may be one that Ingot still remembers. Therefore, a descriptor that is kept is
 * compared with the file that was opened, before each use and before it is closed. A descriptor that refers to another
 * file belongs to the application: it is neither used nor closed.
 *
 * Device and inode do not show whether it is the same open file, on which locks depend: another thread may have opened
 * the same file again under the number. If only pread and pwrite access a file, its position is free to hold a mark
 * that identifies the open file.
 */
#ifndef INGOT_UTIL_KEPT_FILE_H
#define INGOT_UTIL_KEPT_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_FILE_NO_MARK (-1)
#define KEPT_FILE_INIT                                                                                                 \
    {                                                                                                                  \
        -1, 0, 0, KEPT_FILE_NO_MARK                                                                                    \
    }

struct kept_file {
    int fd; /* -1: none */
    uint64_t device;
    uint64_t inode;
    int64_t mark; /* the position of the open file; KEPT_FILE_NO_MARK: its position is used otherwise */
};

/* Begins to keep a descriptor. If the mark is not KEPT_FILE_NO_MARK, moves the position of the open file there. If the
 * kernel does not tell what the descriptor refers to, closes it and returns a negated errno. */
static inline int kept_file_begin(struct kept_file *file, int fd, int64_t mark)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        const int error = -errno;
        (void)close(fd);
        return error;
    }
    const bool has_mark = mark != KEPT_FILE_NO_MARK && lseek(fd, (off_t)mark, SEEK_SET) == (off_t)mark;
    file->fd = fd;
    file->device = (uint64_t)about.st_dev;
    file->inode = (uint64_t)about.st_ino;
    file->mark = has_mark ? mark : KEPT_FILE_NO_MARK;
    return 0;
}

/* True if the descriptor, which refers to a file with this device and inode, is still the one that is kept. */
static inline bool kept_file_is(const struct kept_file *file, uint64_t device, uint64_t inode)
{
    return file->device == device && file->inode == inode &&
           (file->mark == KEPT_FILE_NO_MARK || lseek(file->fd, 0, SEEK_CUR) == (off_t)file->mark);
}

/* True if a descriptor is kept and was not closed by others. */
static inline bool kept_file_is_open(const struct kept_file *file)
{
    struct stat about;
    return file->fd >= 0 && fstat(file->fd, &about) == 0 &&
           kept_file_is(file, (uint64_t)about.st_dev, (uint64_t)about.st_ino);
}

/* Ends keeping a descriptor. Closes it unless others have closed it. */
static inline void kept_file_end(struct kept_file *file)
{
    if (kept_file_is_open(file))
        (void)close(file->fd);
    file->fd = -1;
}

#endif

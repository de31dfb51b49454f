/*
 * files_lock.c - implements the file locks that files.h declares.
 *
 * A lock on a byte belongs to the open file, not to the process. Two threads that each open the file therefore exclude
 * each other, as two processes do. A forked child shares its parent's open files, and therefore its parent's locks.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "persist/base/files.h"

static struct flock one_byte(short type, uint64_t byte)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
}

static int set_lock(int fd, short type, uint64_t byte)
{
    struct flock lock = one_byte(type, byte);
    const int result = FILES_RESULT_OF(fcntl(fd, F_OFD_SETLK, &lock));
    return result == -EACCES ? -EAGAIN : result;
}

int files_try_lock(int fd, uint64_t byte)
{
    return set_lock(fd, F_WRLCK, byte);
}

int files_try_lock_shared(int fd, uint64_t byte)
{
    return set_lock(fd, F_RDLCK, byte);
}

int files_unlock(int fd, uint64_t byte)
{
    return set_lock(fd, F_UNLCK, byte);
}

int files_find_lock(int fd, uint64_t byte, enum files_lock *found)
{
    struct flock lock = one_byte(F_WRLCK, byte);
    const int result = files_result_of(fcntl(fd, F_OFD_GETLK, &lock));
    *found = lock.l_type == F_UNLCK   ? FILES_LOCK_NONE
             : lock.l_type == F_RDLCK ? FILES_LOCK_SHARED
                                      : FILES_LOCK_EXCLUSIVE;
    return result;
}

int files_try_lock_whole(int fd)
{
    return FILES_RESULT_OF(flock(fd, LOCK_EX | LOCK_NB));
}

int files_unlock_whole(int fd)
{
    return files_result_of(flock(fd, LOCK_UN));
}

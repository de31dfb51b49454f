/*
 * secret_file.c - reads credentials from a file; see settings.h.
 */
#include "remote/settings/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITABLE 0222u
#define WRITABLE_BY_OTHERS 0022u
#define READABLE_BY_ALL 0004u

static ingot_status_t check_secret_file(const char *what, const char *path, int fd)
{
    struct stat found;
    if (fstat(fd, &found) != 0)
        return ingot_set_error(INGOT_IO_ERROR, errno, "%s: reading the state of %s: %s", what, path, strerror(errno));
    if (!S_ISREG(found.st_mode))
        return ingot_set_error_detail(INGOT_UNTRUSTED, "%s: %s is not a plain file", what, path);
    if (found.st_uid != geteuid() && found.st_uid != 0)
        return ingot_set_error_detail(INGOT_UNTRUSTED, "%s: %s belongs to user %ld; change its owner", what, path,
                                      (long)found.st_uid);
    /* Others must not be able to write the file. Its group may read it. All users may read it only if nobody may write
     * it, because orchestrators mount secrets with such a mode, which cannot be changed. In any other case, a file that
     * all users can read is an oversight. */
    if ((found.st_mode & WRITABLE_BY_OTHERS) != 0 ||
        ((found.st_mode & READABLE_BY_ALL) != 0 && (found.st_mode & WRITABLE) != 0))
        return ingot_set_error_detail(INGOT_UNTRUSTED, "%s: %s has mode %04o, so others can access it; run chmod 600",
                                      what, path, (unsigned)found.st_mode & 07777);
    return INGOT_SUCCESS;
}

static ingot_status_t open_secret_file(const char *what, const char *path, int *fd)
{
    const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (opened < 0)
        return ingot_set_error(errno == ENOENT ? INGOT_NOT_FOUND : INGOT_IO_ERROR, errno, "%s: opening %s: %s", what,
                               path, strerror(errno));
    const ingot_status_t status = check_secret_file(what, path, opened);
    if (status == INGOT_SUCCESS)
        *fd = opened;
    else
        (void)close(opened);
    return status;
}

ingot_status_t secret_file_check(const char *what, const char *path)
{
    int fd = -1;
    const ingot_status_t status = open_secret_file(what, path, &fd);
    if (status == INGOT_SUCCESS)
        (void)close(fd);
    return status;
}

static ingot_status_t take_secret_line(const char *what, const char *path, size_t size, char *secret)
{
    const char *end = memchr(secret, '\n', size);
    size_t length = end != NULL ? (size_t)(end - secret) : size;
    if (end == NULL && size == SECRET_CAPACITY)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s: the first line of %s has more than %u bytes", what,
                                      path, SECRET_CAPACITY - 1);
    if (length != 0 && secret[length - 1] == '\r')
        --length;
    if (length == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s: the first line of %s is empty", what, path);
    for (size_t i = 0; i < length; ++i) /* one would end the line of a protocol's header, or is an editor's error */
        if ((unsigned char)secret[i] < 0x20 || secret[i] == 0x7f)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s: the first line of %s has a control character",
                                          what, path);
    sodium_memzero(secret + length, SECRET_CAPACITY - length);
    return INGOT_SUCCESS;
}

ingot_status_t secret_file_read(const char *what, const char *path, char secret[SECRET_CAPACITY])
{
    int fd = -1;
    size_t size = 0;
    ssize_t count = 1;
    ingot_status_t status = open_secret_file(what, path, &fd);
    if (status != INGOT_SUCCESS)
        return status;
    while (size < SECRET_CAPACITY && count > 0) {
        count = TEMP_FAILURE_RETRY(read(fd, secret + size, SECRET_CAPACITY - size));
        size += count > 0 ? (size_t)count : 0;
    }
    if (count < 0)
        status = ingot_set_error(INGOT_IO_ERROR, errno, "%s: reading %s: %s", what, path, strerror(errno));
    (void)close(fd);
    if (status == INGOT_SUCCESS)
        status = take_secret_line(what, path, size, secret);
    if (status != INGOT_SUCCESS)
        secret_wipe(secret);
    return status;
}

void secret_wipe(char secret[SECRET_CAPACITY])
{
    sodium_memzero(secret, SECRET_CAPACITY);
}

/*
 * os_file.c - reading files; see os_file.h.
 */
#include "core/base/os_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "util/cancellation.h"

/* Reserves one byte more than expected, so that the end of the file is detected without growing the buffer. */
static ingot_status_t read_all(int file, const char *path, size_t expected_size, size_t max_size,
                               struct bytes_writer *content)
{
    const size_t begin = content->size;
    size_t room = expected_size + 1;
    for (;;) {
        const size_t start = content->size;
        if (start - begin > max_size)
            return error_set(INGOT_NO_SPACE, "%s has more than %zu bytes", path, max_size);
        uint8_t *place = bytes_reserve(content, room);
        if (place == NULL)
            return INGOT_OUT_OF_MEMORY;
        const ssize_t got = read(file, place, room);
        content->size = start + (got > 0 ? (size_t)got : 0);
        if (got < 0 && errno != EINTR)
            return ingot_set_error(INGOT_IO_ERROR, errno, "reading %s failed: %s", path, strerror(errno));
        if (got == 0)
            return INGOT_SUCCESS;
        if (got > 0)
            room = (size_t)got < room ? room - (size_t)got : 65536;
    }
}

static ingot_status_t read_file(const char *path, size_t max_size, struct bytes_writer *content,
                                struct os_file_identity *identity)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        const bool absent = errno == ENOENT || errno == ENOTDIR;
        return ingot_set_error(absent ? INGOT_NOT_FOUND : INGOT_IO_ERROR, errno, "opening %s failed: %s", path,
                               strerror(errno));
    }
    struct stat about;
    ingot_status_t status;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        status = error_set(INGOT_IO_ERROR, "%s is not a regular file", path);
    else if ((uint64_t)about.st_size > max_size)
        status = error_set(INGOT_NO_SPACE, "%s has more than %zu bytes", path, max_size);
    else
        status = read_all(file, path, (size_t)about.st_size, max_size, content);
    if (identity != NULL && status == INGOT_SUCCESS)
        *identity = (struct os_file_identity){(uint64_t)about.st_dev, (uint64_t)about.st_ino};
    close(file);
    return status;
}

ingot_status_t os_read_file(const char *path, size_t max_size, struct bytes_writer *content,
                            struct os_file_identity *identity)
{
    const int before = cancellation_hold();
    const ingot_status_t status = read_file(path, max_size, content, identity);
    cancellation_allow(before);
    return status;
}

static ingot_status_t read_file_in_parts(const char *path, void (*take)(void *user, size_t size, const void *bytes),
                                         void *user)
{
    enum { PART = 64 * 1024 };
    uint8_t part[PART];
    ssize_t got = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        const bool absent = errno == ENOENT || errno == ENOTDIR;
        return error_set(absent ? INGOT_NOT_FOUND : INGOT_IO_ERROR, "opening %s failed: %s", path, strerror(errno));
    }
    while ((got = read(file, part, sizeof(part))) > 0 || (got < 0 && errno == EINTR)) {
        if (got > 0)
            take(user, (size_t)got, part);
    }
    const ingot_status_t status =
        got == 0 ? INGOT_SUCCESS : error_set(INGOT_IO_ERROR, "reading %s failed: %s", path, strerror(errno));
    close(file);
    return status;
}

ingot_status_t os_read_file_in_parts(const char *path, void (*take)(void *user, size_t size, const void *bytes),
                                     void *user)
{
    const int before = cancellation_hold();
    const ingot_status_t status = read_file_in_parts(path, take, user);
    cancellation_allow(before);
    return status;
}

bool os_put_current_directory(struct bytes_writer *path)
{
    char name[4096];
    if (getcwd(name, sizeof(name)) == NULL)
        return false;
    bytes_put_text(path, name);
    return true;
}

bool os_identify_directory(const char *path, struct os_file_identity *identity)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return false;
    *identity = (struct os_file_identity){(uint64_t)about.st_dev, (uint64_t)about.st_ino};
    return true;
}

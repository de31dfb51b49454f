/*
 * os_file.c - reads files and their states; see os_file.h.
 */
#include "core/base/os_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "util/nanoseconds.h"

/* Appends the rest of the file. Reserves one byte more than expected, so that the end of the file is detected
 * without growing the buffer. */
static ingot_status_t append_rest_of_file(int file, const char *path, size_t expected_size, size_t max_size,
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

static uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static struct os_file_state state_of(const struct stat *about)
{
    return (struct os_file_state){{(uint64_t)about->st_dev, (uint64_t)about->st_ino},
                                  (uint64_t)about->st_size,
                                  ns_of(&about->st_mtim),
                                  ns_of(&about->st_ctim)};
}

/* Gets the file's facts. Called after the content was read. */
static void get_facts(int file, const struct stat *before, struct os_file_facts *facts)
{
    enum { EXT_2_3_4 = 0xef53, XFS = 0x58465342, OVERLAYFS = 0x794c7630 };
    const uint32_t btrfs = 0x9123683e;
    const uint32_t f2fs = 0xf2f52010;
    const uint32_t bcachefs = 0xca451a4e;
    struct statfs system = {.f_type = 0};
    struct stat after;
    *facts = (struct os_file_facts){.state = state_of(before)};
    if (fstat(file, &after) != 0)
        return;
    const struct os_file_state state = state_of(&after);
    facts->was_steady = memcmp(&state, &facts->state, sizeof(state)) == 0;
    const uint32_t type = fstatfs(file, &system) == 0 ? (uint32_t)system.f_type : 0;
    /* These file systems report every change of a file immediately. Others may be remote, cache attributes, renumber
     * files, or take times from an image. A write through a memory mapping does not change a
     * file's times in a tmpfs, and changes them late in ZFS. */
    facts->tells_changes =
        type == EXT_2_3_4 || type == XFS || type == OVERLAYFS || type == btrfs || type == f2fs || type == bcachefs;
}

/* Opens a regular file. If the path leads to a pipe, fails without waiting for a writer. */
static ingot_status_t open_regular_file(const char *path, int *file, struct stat *about)
{
    ingot_status_t status = INGOT_SUCCESS;
    const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0) {
        const bool absent = errno == ENOENT || errno == ENOTDIR;
        return ingot_set_error(absent ? INGOT_NOT_FOUND : INGOT_IO_ERROR, errno, "opening %s failed: %s", path,
                               strerror(errno));
    }
    if (fstat(opened, about) != 0)
        status = ingot_set_error(INGOT_IO_ERROR, errno, "reading the state of %s failed: %s", path, strerror(errno));
    else if (!S_ISREG(about->st_mode))
        status = error_set(INGOT_IO_ERROR, "%s is not a regular file", path);
    if (status == INGOT_SUCCESS)
        *file = opened;
    else
        close(opened);
    return status;
}

ingot_status_t os_read_file(const char *path, size_t max_size, struct bytes_writer *content,
                            struct os_file_facts *facts)
{
    int file = -1;
    struct stat about;
    ingot_status_t status = open_regular_file(path, &file, &about);
    if (status != INGOT_SUCCESS)
        return status;
    if ((uint64_t)about.st_size > max_size)
        status = error_set(INGOT_NO_SPACE, "%s has more than %zu bytes", path, max_size);
    else
        status = append_rest_of_file(file, path, (size_t)about.st_size, max_size, content);
    if (facts != NULL && status == INGOT_SUCCESS)
        get_facts(file, &about, facts);
    close(file);
    return status;
}

ingot_status_t os_hash_file(const char *path, uint8_t *part, struct hash128 *hash, struct os_file_facts *facts)
{
    size_t size = 0;
    ssize_t got = 0;
    int file = -1;
    struct stat about;
    ingot_status_t status = open_regular_file(path, &file, &about);
    if (status != INGOT_SUCCESS)
        return status;
    *hash = (struct hash128){0, 0};
    do {
        got = read(file, part + size, OS_FILE_PART - size);
        size += got > 0 ? (size_t)got : 0;
        if (size == OS_FILE_PART || (got == 0 && size != 0)) {
            const struct hash128 both[2] = {*hash, hash128_of(size, part)};
            *hash = hash128_of(sizeof(both), both);
            size = 0;
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got != 0)
        status = ingot_set_error(INGOT_IO_ERROR, errno, "reading %s failed: %s", path, strerror(errno));
    if (facts != NULL && status == INGOT_SUCCESS)
        get_facts(file, &about, facts);
    close(file);
    return status;
}

ingot_status_t os_get_file_state(const char *path, struct os_file_state *state)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == ENOENT || errno == ENOTDIR ? INGOT_NOT_FOUND : INGOT_IO_ERROR;
    *state = state_of(&about);
    return S_ISREG(about.st_mode) ? INGOT_SUCCESS : INGOT_IO_ERROR;
}

uint64_t os_file_clock_ns(void)
{
    return nanoseconds_of(CLOCK_REALTIME_COARSE);
}

uint64_t os_reader(void)
{
    enum { MAX_GROUPS = 1024 };
    uint32_t rights[2 + MAX_GROUPS] = {geteuid(), getegid()};
    _Static_assert(sizeof(gid_t) == sizeof(rights[0]), "the kernel writes groups into this array");
    const int count = getgroups(MAX_GROUPS, rights + 2);
    if (count >= 0)
        return hash128_of((2 + (size_t)count) * sizeof(rights[0]), rights).low;
    return nanoseconds_of(CLOCK_MONOTONIC); /* too many groups: a number that no other call returns */
}

bool os_identify_directory(const char *path, struct os_file_identity *identity)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return false;
    *identity = (struct os_file_identity){(uint64_t)about.st_dev, (uint64_t)about.st_ino};
    return true;
}

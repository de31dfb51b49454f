/*
 * files.c - makes the system calls that a store needs.
 *
 * No file or directory that is opened is a symbolic link. The directories above it, up to the handle, belong to the
 * user who owns the store, or their links lead to what must be sealed: the store checks the namespace, the shard and
 * the entry (lookup.c, publish.c).
 *
 * A lock on a byte belongs to the open file, not to the process. Two threads that each open the file therefore exclude
 * each other, as two processes do. A forked child shares its parent's open files, and therefore its parent's locks.
 *
 * Permissions are changed through a descriptor, never by path: when root works in another user's directory, that user
 * can replace a file with a link at any moment.
 */
#include "persist/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/nanoseconds.h"
#include "util/process_number.h"

#define BLOCK_SIZE 512u /* of st_blocks, on every file system */
#define MAX_TREE_DEPTH 4
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* the same number on all processors */
#endif

static int open_below(int at, const char *path, int flags, mode_t mode)
{
    return FILES_RESULT_OF(openat(at, path, flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

/* True if the object belongs to this user or to the superuser. */
static bool is_of_user_or_root(const struct file_facts *facts)
{
    return facts->owner == files_user() || facts->owner == 0;
}

int files_read_own_link(const char *path, char *target)
{
    struct file_facts of_parent = {0};
    struct file_facts of_link;
    const char *name;
    const int parent = files_open_parent(path, &name);
    /* a relative link begins where the link is */
    const size_t start = (size_t)(name - path);
    if (parent < 0)
        return parent;
    int result = files_facts(parent, &of_parent);
    if (result == 0)
        result = files_facts_at(parent, name, &of_link);
    if (result == 0 && !of_link.is_link)
        result = -EINVAL;
    if (result == 0 && !(of_parent.is_closed && is_of_user_or_root(&of_parent) && is_of_user_or_root(&of_link)))
        result = -ELOOP;
    if (result == 0) {
        char link[PATH_MAX];
        const ssize_t size = readlinkat(parent, name, link, sizeof(link) - 1);
        const size_t lead = size > 0 && link[0] == '/' ? 0 : start;
        if (size <= 0 || lead + (size_t)size >= PATH_MAX) {
            result = size < 0 ? -errno : -ENAMETOOLONG;
        } else {
            memcpy(target, path, lead);
            memcpy(target + lead, link, (size_t)size);
            target[lead + (size_t)size] = '\0';
        }
    }
    (void)files_close(parent);
    return result;
}

ingot_status_t files_absolute(const char *path, char absolute[PATH_MAX])
{
    absolute[0] = '\0';
    if (path[0] != '/' && getcwd(absolute, PATH_MAX) == NULL)
        return files_read_failed(-errno, "finding the working directory for", path);
    const size_t length = strlen(absolute);
    const int size = snprintf(absolute + length, PATH_MAX - length, "%s%s", length != 0 ? "/" : "", path);
    return (size_t)size < PATH_MAX - length ? INGOT_SUCCESS
                                            : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the path is too long");
}

int files_open_parent(const char *path, const char **name)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    const size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof(directory))
        return -ENAMETOOLONG;
    memcpy(directory, length != 0 ? path : ".", length != 0 ? length : 1);
    directory[length != 0 ? length : 1] = '\0';
    return files_result_of(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

int files_open_place(int at, const char *path)
{
    return open_below(at, path, O_PATH | O_DIRECTORY, 0);
}

int files_open_read(int at, const char *path)
{
    return open_below(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0); /* opening a FIFO must not block */
}

int files_open_path(const char *path)
{
    const char *name;
    const int parent = files_open_parent(path, &name);
    const int fd = parent < 0 ? parent : files_open_read(parent, name);
    if (parent >= 0)
        (void)close(parent);
    return fd;
}

int files_refresh(int at, const char *path)
{
    struct statx found;
    return files_result_of(statx(at, path, AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &found));
}

int files_open_update(int at, const char *path)
{
    return open_below(at, path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, S_IRUSR | S_IWUSR);
}

int files_create(int at, const char *path, bool is_readable)
{
    return open_below(at, path, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR | (is_readable ? S_IRGRP | S_IROTH : 0));
}

int files_close(int fd)
{
    const int result = files_result_of(close(fd));
    return result == -EINTR ? 0 : result; /* Linux has closed it despite EINTR */
}

static uint64_t to_ns(const struct timespec *time)
{
    return time->tv_sec < 0 ? 0 : (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_nsec;
}

static void fill_facts(const struct stat *from, struct file_facts *facts)
{
    facts->size_bytes = from->st_size > 0 ? (uint64_t)from->st_size : 0;
    facts->allocated_bytes = from->st_blocks > 0 ? (uint64_t)from->st_blocks * BLOCK_SIZE : 0;
    facts->device = (uint64_t)from->st_dev;
    facts->inode = (uint64_t)from->st_ino;
    facts->modified_ns = to_ns(&from->st_mtim);
    facts->changed_ns = to_ns(&from->st_ctim);
    facts->is_directory = S_ISDIR(from->st_mode);
    facts->is_file = S_ISREG(from->st_mode);
    facts->is_link = S_ISLNK(from->st_mode);
    facts->link_count = (uint64_t)from->st_nlink;
    facts->owner = from->st_uid;
    facts->mode = from->st_mode & 07777u;
    facts->is_closed = (from->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

uint32_t files_user(void)
{
    return geteuid();
}

int files_facts(int fd, struct file_facts *facts)
{
    struct stat found;
    if (fstat(fd, &found) != 0)
        return -errno;
    fill_facts(&found, facts);
    return 0;
}

int files_facts_at(int at, const char *path, struct file_facts *facts)
{
    struct stat found;
    if (fstatat(at, path, &found, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    fill_facts(&found, facts);
    return 0;
}

int files_read_once(int fd, size_t size, void *bytes)
{
    return FILES_RESULT_OF(pread(fd, bytes, size, 0));
}

int files_read(int fd, uint64_t offset, size_t size, void *bytes, size_t *got)
{
    *got = 0;
    while (*got < size) {
        const ssize_t count = TEMP_FAILURE_RETRY(pread(fd, (char *)bytes + *got, size - *got, (off_t)(offset + *got)));
        if (count < 0)
            return -errno;
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return 0;
}

ingot_status_t files_read_all(int fd, const char *name, uint64_t offset, size_t size, uint8_t *bytes)
{
    size_t got = 0;
    const int result = files_read(fd, offset, size, bytes, &got);
    if (result < 0)
        return files_read_failed(result, "reading", name);
    return got == size ? INGOT_SUCCESS
                       : ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "%s became shorter while it was in use", name);
}

int files_write(int fd, uint64_t offset, size_t size, const void *bytes)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count =
            TEMP_FAILURE_RETRY(pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done)));
        if (count <= 0)
            return count < 0 ? -errno : -EIO;
        done += (size_t)count;
    }
    return 0;
}

int files_truncate(int fd, uint64_t size_bytes)
{
    return FILES_RESULT_OF(ftruncate(fd, (off_t)size_bytes));
}

uint64_t files_size_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

int files_set_time(int at, const char *path, uint64_t time_ns)
{
    const struct timespec times[2] = {{0, UTIME_OMIT},
                                      {(time_t)(time_ns / NS_PER_SECOND), (long)(time_ns % NS_PER_SECOND)}};
    return files_result_of(utimensat(at, path, times, AT_SYMLINK_NOFOLLOW));
}

int files_sync(int fd)
{
    return FILES_RESULT_OF(fsync(fd));
}

int files_rename(int from_at, const char *from, int to_at, const char *to)
{
    return files_result_of(renameat(from_at, from, to_at, to));
}

int files_exchange(int at, const char *path, const char *other)
{
    if (syscall(SYS_renameat2, at, path, at, other, RENAME_EXCHANGE) == 0)
        return 0;
    /* a sandbox may answer EPERM to a call that it does not know */
    return errno == EINVAL || errno == ENOSYS || errno == EPERM ? -EOPNOTSUPP : -errno;
}

int files_remove(int at, const char *path)
{
    return files_result_of(unlinkat(at, path, 0));
}

int files_remove_directory(int at, const char *path)
{
    return files_result_of(unlinkat(at, path, AT_REMOVEDIR));
}

int files_list(int at, const char *path, bool (*visit)(void *user, const char *name), void *user)
{
    const int fd = open_below(at, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    DIR *stream = fdopendir(fd);
    if (stream == NULL) {
        const int error = -errno;
        (void)close(fd);
        return error;
    }
    const struct dirent *found;
    do {
        errno = 0;
        found = readdir(stream);
    } while (found != NULL &&
             (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0 || visit(user, found->d_name)));
    const int result = found == NULL ? -errno : 0;
    (void)closedir(stream);
    return result;
}

struct removal {
    int at;
    int depth;
};

static int remove_below(int at, const char *name, int depth);

static bool remove_folder_member(void *user, const char *name)
{
    const struct removal *removal = user;
    (void)remove_below(removal->at, name, removal->depth); /* if this fails, removing the directory fails, too */
    return true;
}

static int remove_below(int at, const char *name, int depth)
{
    const int as_file = files_remove(at, name);
    if (as_file == 0 || (as_file != -EISDIR && as_file != -EPERM))
        return as_file;
    if (depth == 0)
        return -ENOTEMPTY;
    struct removal removal = {files_open_place(at, name), depth - 1};
    if (removal.at < 0)
        return removal.at;
    (void)files_list(at, name, remove_folder_member, &removal);
    (void)close(removal.at);
    return files_remove_directory(at, name);
}

int files_remove_tree(int at, const char *name)
{
    return remove_below(at, name, MAX_TREE_DEPTH);
}

uint64_t files_wall_clock_ns(void)
{
    return nanoseconds_of(CLOCK_REALTIME);
}

uint64_t files_steady_clock_ns(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

void files_pause_ns(uint64_t duration_ns)
{
    const struct timespec duration = {(time_t)(duration_ns / NS_PER_SECOND), (long)(duration_ns % NS_PER_SECOND)};
    (void)nanosleep(&duration, NULL);
}

uint64_t files_random(void)
{
    static _Atomic(uint64_t) state; /* release/acquire by `seeded`: the process in which it was set */
    static _Atomic(unsigned long) seeded;
    const unsigned long process = process_number();
    if (atomic_load_explicit(&seeded, memory_order_acquire) != process) {
        uint64_t seed = 0;
        if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
            seed = files_wall_clock_ns() ^ files_steady_clock_ns() << 20;
        atomic_store_explicit(&state, seed, memory_order_relaxed);
        atomic_store_explicit(&seeded, process, memory_order_release);
    }
    /* the generator SplitMix64; the time distinguishes copies of a process or a machine that are not known as forks */
    uint64_t bits =
        atomic_fetch_add_explicit(&state, UINT64_C(0x9e3779b97f4a7c15), memory_order_relaxed) ^ files_wall_clock_ns();
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

/* ---- locks ---- */

static const short lock_types[] = {
    [FILES_LOCK_NONE] = F_UNLCK, [FILES_LOCK_SHARED] = F_RDLCK, [FILES_LOCK_EXCLUSIVE] = F_WRLCK};

static struct flock one_byte(short type, uint64_t byte)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
}

int files_set_lock(int fd, uint64_t byte, enum files_lock wanted)
{
    struct flock lock = one_byte(lock_types[wanted], byte);
    const int result = FILES_RESULT_OF(fcntl(fd, F_OFD_SETLK, &lock));
    return result == -EACCES ? -EAGAIN : result;
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

/* ---- directories that are made, and closed to other users ---- */

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

int files_make_root(const char *path, bool makes_parents)
{
    char part[PATH_MAX]; /* the path of the first directory that exists, and then the name of each that is made */
    size_t length = strlen(path);
    int handle;
    if (length >= sizeof(part))
        return -ENAMETOOLONG;
    memcpy(part, path, length + 1);
    do { /* links in this path are followed, because the user chose them */
        while (length > 0 && path[length - 1] != '/')
            --length;
        while (length > 0 && path[length - 1] == '/')
            --length;
        part[length] = '\0';
        handle = files_result_of(open(length != 0 ? part : "/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    } while (handle == -ENOENT && makes_parents && length > 0);
    path += length;
    while (handle >= 0 && path[strspn(path, "/")] != '\0') {
        const int parent = handle;
        path += strspn(path, "/");
        length = strcspn(path, "/");
        memcpy(part, path, length);
        part[length] = '\0';
        const int made = files_make_directory(parent, part);
        handle = made == 0 || made == -EEXIST ? files_open_place(parent, part) : made;
        (void)close(parent);
        path += length;
    }
    return handle;
}

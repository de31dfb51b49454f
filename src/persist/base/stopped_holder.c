/*
 * stopped_holder.c - finds out whether a process that holds a lock is stopped; see stopped_holder.h.
 *
 * The kernel does not tell which process holds a lock that belongs to an open file. But it lists the locks of each open
 * file in /proc/PID/fdinfo. Stopped processes are rare, so it suffices to look at their files.
 */
#include "persist/base/stopped_holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_CAPACITY 1024u
#define WANTED_CAPACITY 96u

/* Reads the beginning of a small file. Returns false on failure. */
static bool read_small_file(int folder, const char *name, char text[TEXT_CAPACITY])
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const ssize_t size = fd >= 0 ? read(fd, text, TEXT_CAPACITY - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* True if the state in /proc/PID/stat is "stopped". It follows the name, which is in parentheses. */
static bool is_process_stopped(int process)
{
    char text[TEXT_CAPACITY];
    if (!read_small_file(process, "stat", text))
        return false;
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

/* True if one of the process's open files has the lock. */
static bool has_lock(int process, const char *wanted)
{
    char text[TEXT_CAPACITY];
    bool has = false;
    const int fd = openat(process, "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd >= 0 ? fdopendir(fd) : NULL;
    if (files == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    for (const struct dirent *file; !has && (file = readdir(files)) != NULL;)
        has =
            file->d_name[0] != '.' && read_small_file(dirfd(files), file->d_name, text) && strstr(text, wanted) != NULL;
    (void)closedir(files);
    return has;
}

static bool is_stopped_with_lock(int processes, const char *name, const char *wanted)
{
    if (name[0] < '1' || name[0] > '9')
        return false;
    const int process = openat(processes, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is = process >= 0 && is_process_stopped(process) && has_lock(process, wanted);
    if (process >= 0)
        (void)close(process);
    return is;
}

bool stopped_holder_exists(uint64_t inode, uint64_t byte)
{
    char wanted[WANTED_CAPACITY];
    bool exists = false;
    DIR *processes = opendir("/proc");
    if (processes == NULL)
        return false;
    /* Without the device, because some file systems show another number here than to stat. */
    (void)snprintf(wanted, sizeof(wanted), ":%" PRIu64 " %" PRIu64 " ", inode, byte);
    for (const struct dirent *process; !exists && (process = readdir(processes)) != NULL;)
        exists = is_stopped_with_lock(dirfd(processes), process->d_name, wanted);
    (void)closedir(processes);
    return exists;
}

/*
 * temporary.c - manages the directory tmp, where entries are prepared, and where they are moved before they are
 * deleted.
 *
 * Nothing in tmp is ever loaded, so leftovers only take space. To tell leftovers from entries in use, each process
 * holds a lock (its session). The kernel drops the lock when the process ends. A process id would not do, because a
 * later process may get the same one. The lock belongs to the open file.
 */
#include "persist/directory/layout/temporary.h"

#include <errno.h>
#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/directory/format/entry.h"

#define TEMPORARY "tmp"
#define ATTEMPTS 16

void temporary_init(struct directory *directory)
{
    directory->session.lock_file = (struct kept_file)KEPT_FILE_INIT;
    pthread_mutex_init(&directory->session.lock, NULL);
}

static void end_session(struct temporary_session *session)
{
    kept_file_end(&session->lock_file);
}

void temporary_lock(struct directory *directory)
{
    pthread_mutex_lock(&directory->session.lock);
}

void temporary_unlock(struct directory *directory)
{
    pthread_mutex_unlock(&directory->session.lock);
}

void temporary_fini(struct directory *directory)
{
    end_session(&directory->session);
    pthread_mutex_destroy(&directory->session.lock);
}

void temporary_renew(struct directory *directory)
{
    temporary_lock(directory);
    end_session(&directory->session);
    temporary_unlock(directory);
}

static bool has_lock_file(const struct directory *directory, const struct kept_file *file)
{
    struct file_facts facts;
    return files_facts_at(directory->root.fd, PATHS_LOCK, &facts) == 0 && facts.device == file->device &&
           facts.inode == file->inode;
}

/* Makes tmp again. Whoever removed tmp may have removed the file `lock`, too, and then the session ends. Otherwise it
 * stays, because other threads may have prepared entries since this one found tmp missing. */
static int make_tmp(struct directory *directory)
{
    struct temporary_session *session = &directory->session;
    const int made = files_make_directory(directory->root.fd, TEMPORARY);
    temporary_lock(directory);
    if (!has_lock_file(directory, &session->lock_file))
        end_session(session);
    temporary_unlock(directory);
    return made == -EEXIST ? 0 : made;
}

/* Closes tmp to other users, and gives its owner the access that a umask has taken away. Nothing in it is ever loaded,
 * so it may be repaired without looking into it. Leaves a store alone that its owner made read-only. */
static void repair_tmp(const struct directory *directory, struct file_facts *facts)
{
    struct file_facts of_root;
    if (files_facts(directory->root.fd, &of_root) == 0 && (of_root.mode & 0200) != 0 &&
        files_make_private(directory->root.fd, TEMPORARY) == 0)
        (void)files_facts_at(directory->root.fd, TEMPORARY, facts);
}

ingot_status_t temporary_ready(struct directory *directory)
{
    struct file_facts facts;
    int result = files_facts_at(directory->root.fd, TEMPORARY, &facts);
    if (result == -ENOENT) {
        result = make_tmp(directory);
        if (result == 0)
            result = files_facts_at(directory->root.fd, TEMPORARY, &facts);
    }
    if (result < 0)
        return files_write_failed(result, "making", TEMPORARY);
    if (facts.is_directory && (facts.mode & 0722) != 0700)
        repair_tmp(directory, &facts);
    if (!facts.is_directory || !files_are_private(&facts, directory->owner))
        return files_untrusted(&facts, true, directory->owner, TEMPORARY);
    return INGOT_SUCCESS;
}

static int begin_session(const struct directory *directory, struct temporary_session *session)
{
    const int fd = files_open_update(directory->root.fd, PATHS_LOCK);
    if (fd < 0)
        return fd;
    int result = -EAGAIN;
    for (int i = 0; i < ATTEMPTS && result == -EAGAIN; ++i) {
        session->byte = PATHS_SESSION_MIN | (files_random() & (PATHS_SESSION_MIN - 1));
        result = files_try_lock(fd, session->byte);
    }
    if (result == 0)
        return files_keep(fd, &session->lock_file);
    (void)files_close(fd);
    return result;
}

ingot_status_t temporary_name(struct directory *directory, char path[PATH_CAPACITY])
{
    struct temporary_session *session = &directory->session;
    int result = 0;
    temporary_lock(directory);
    if (!kept_file_is_open(&session->lock_file))
        result = begin_session(directory, session);
    if (result == 0)
        paths_temporary(path, TEMPORARY, session->byte, session->next++);
    temporary_unlock(directory);
    return result < 0 ? files_lock_failed(result, PATHS_LOCK) : INGOT_SUCCESS;
}

ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY])
{
    int result = -EEXIST;
    for (int i = 0; i < ATTEMPTS && result == -EEXIST; ++i) {
        const ingot_status_t status = temporary_name(directory, path);
        if (status != INGOT_SUCCESS)
            return status;
        result = files_make_directory(directory->root.fd, path);
    }
    return result < 0 ? files_write_failed(result, "making", "a temporary entry") : INGOT_SUCCESS;
}

void temporary_delete(const struct directory *directory, const char *path)
{
    char file[PATH_CAPACITY];
    const int at = directory->root.fd;
    paths_join(file, path, "key.bin");
    (void)files_remove(at, file);
    paths_join(file, path, "kernel.bin");
    (void)files_remove(at, file);
    const int result = files_remove_directory(at, path);
    if (result == -ENOTEMPTY || result == -EEXIST || result == -ENOTDIR)
        (void)files_remove_tree(at, path);
}

struct reclaim {
    struct directory *directory;
    bool is_removing;
    int lock_fd; /* the file `lock`, opened when the first name needs it; -EBADF: not opened yet */
    struct leftovers found;
};

static bool take_session(struct reclaim *reclaim, uint64_t byte)
{
    if (reclaim->lock_fd < 0) /* if it was missing, it may have been made since */
        reclaim->lock_fd = files_open_read_write(reclaim->directory->root.fd, PATHS_LOCK);
    if (reclaim->lock_fd == -ENOENT)
        return true; /* without the file, no process can have locked the byte */
    return reclaim->lock_fd >= 0 && files_try_lock(reclaim->lock_fd, byte) == 0;
}

/* Deletes a leftover. Gives it a name of this process first: the rename that publishes it may still be on its way from
 * a killed process to a network file system's server, and must not find it half deleted. If it came with a container's
 * image, it cannot be renamed, and no such process exists. */
static void delete_leftover(struct directory *directory, const char *path)
{
    char own[PATH_CAPACITY];
    struct kept_error kept;
    kept_error_save(&kept);
    if (temporary_name(directory, own) == INGOT_SUCCESS) {
        const int result = files_rename(directory->root.fd, path, directory->root.fd, own);
        if (result == 0 || result == -EXDEV)
            temporary_delete(directory, result == 0 ? own : path);
    }
    kept_error_restore(&kept);
}

static bool reclaim_one(void *user, const char *name)
{
    struct reclaim *reclaim = user;
    char path[PATH_CAPACITY];
    uint64_t byte;
    if (!paths_is_temporary(name, &byte) || !take_session(reclaim, byte))
        return true;
    paths_join(path, TEMPORARY, name);
    ++reclaim->found.count;
    reclaim->found.bytes += entry_bytes(reclaim->directory->root.fd, path, NULL);
    if (reclaim->is_removing)
        delete_leftover(reclaim->directory, path);
    if (reclaim->lock_fd >= 0)
        (void)files_unlock(reclaim->lock_fd, byte);
    return true;
}

struct leftovers temporary_reclaim(struct directory *directory, bool is_removing)
{
    struct reclaim reclaim = {.directory = directory, .is_removing = is_removing, .lock_fd = -EBADF};
    struct file_facts facts;
    if (files_facts_at(directory->root.fd, TEMPORARY, &facts) < 0 || !facts.is_directory ||
        !files_are_private(&facts, directory->owner))
        return reclaim.found;
    (void)files_list(directory->root.fd, TEMPORARY, reclaim_one, &reclaim);
    if (reclaim.lock_fd >= 0)
        (void)files_close(reclaim.lock_fd);
    if (is_removing) {
        counters_add(&directory->counters, COUNTER_LEFTOVERS, reclaim.found.count);
        counters_add(&directory->counters, COUNTER_LEFTOVER_BYTES, reclaim.found.bytes);
    }
    return reclaim.found;
}

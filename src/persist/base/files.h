/*
 * files.h - everything that a store needs from the operating system.
 *
 * Every system call of persist is behind these functions, so that a test can make each of them fail. They return 0 (or
 * a descriptor, or a count) or a negated errno, retry EINTR, and never follow a symbolic link below a directory handle.
 */
#ifndef INGOT_PERSIST_BASE_FILES_H
#define INGOT_PERSIST_BASE_FILES_H

#include <ingot/ingot.h>
#include <stdbool.h>

struct file_facts {
    uint64_t size_bytes;
    uint64_t device;
    uint64_t inode;
    uint64_t modified_ns;
    uint64_t link_count; /* 0: deleted */
    uint32_t owner;
    uint32_t mode; /* its permissions */
    bool is_directory;
    bool is_file;
    bool is_closed; /* true if only the owner may write it */
};

/* Returns the effective user. */
uint32_t files_user(void);

/* Stands for any user, and others may write, too. The number is not a valid user: chown treats it as "unchanged". */
#define FILES_ANY_USER UINT32_MAX

/* The most that is read at once from a file that any user may own. A huge sparse file costs its owner nothing, but
 * reading it would cost this process its memory. */
#define FILES_ANY_USER_LIMIT ((uint64_t)256 << 20)
/* Returns INGOT_UNTRUSTED if the size is larger. */
ingot_status_t files_check_limit(uint64_t size_bytes, const char *name);

static inline bool files_are_private(const struct file_facts *facts, uint32_t user)
{
    return user == FILES_ANY_USER || (facts->is_closed && facts->owner == user);
}

/* Returns the status for a negated errno, with a detail that contains action, name and errno. */
ingot_status_t files_read_failed(int error, const char *action, const char *name);
ingot_status_t files_write_failed(int error, const char *action, const char *name);
/* The same about a lock; some network file systems have none. */
ingot_status_t files_lock_failed(int error, const char *name);

/* Returns INGOT_UNTRUSTED. The detail says what was found, what is required (a directory or a file that this user owns
 * and that no other user may write), and how to fix it. */
ingot_status_t files_untrusted(const struct file_facts *facts, bool must_be_directory, uint32_t user, const char *name);

/* Opens the root itself; path may be any path. The last component must not be a link; the permissions of a new root do
 * not depend on umask. */
int files_open_root(const char *path);
int files_make_root(const char *path);

/* Writes the path of the working directory. Returns -ERANGE if it is too long. */
int files_working_directory(char *path, size_t capacity);
/* Makes the descriptor `replaced` refer to the same object as fd, for all threads at once. */
int files_replace(int fd, int replaced);

/* Opens the directory that contains the object at a path; *name is the path's last component. */
int files_open_parent(const char *path, const char **name);

/* These functions open a path below a handle. open_place is the cheapest; its handle can only be passed to other
 * calls. */
int files_open_place(int at, const char *path);
int files_open_read(int at, const char *path);
int files_open_update(int at, const char *path); /* for reading and writing; created if missing */
int files_open_read_write(int at, const char *path);
int files_create(int at, const char *path);          /* for writing; must not exist */
int files_create_readable(int at, const char *path); /* the same, and other users may read it */
int files_close(int fd);

int files_facts(int fd, struct file_facts *facts);
int files_facts_at(int at, const char *path, struct file_facts *facts);

/* Reads from offset. Returns 0 and sets *got, which is less than size only at the end of the file. */
int files_read(int fd, uint64_t offset, size_t size, void *bytes, size_t *got);
/* Reads exactly size bytes. Returns INGOT_BLOB_TRUNCATED if the file is shorter. The detail of a failure contains the
 * name. */
ingot_status_t files_read_all(int fd, const char *name, uint64_t offset, size_t size, uint8_t *bytes);
/* Write everything or fail. write_at makes one system call, and returns -EIO if that was not enough. */
int files_write(int fd, size_t size, const void *bytes);
int files_write_all_at(int fd, uint64_t offset, size_t size, const void *bytes); /* makes as many calls as it takes */
int files_write_at(int fd, uint64_t offset, size_t size, const void *bytes);
int files_truncate(int fd, uint64_t size_bytes);
/* Returns the size of the largest file that the process may write; writing more would raise a signal. */
uint64_t files_size_limit(void);
/* True if the process may let a file grow to this size. */
bool files_may_grow_to(uint64_t size_bytes);
int files_sync(int fd);
int files_sync_directory(int at, const char *path);

int files_make_directory(int at, const char *path);
int files_rename(int from_at, const char *from, int to_at, const char *to);
int files_remove(int at, const char *path);
int files_remove_directory(int at, const char *path);
/* Removes everything under a name, a few levels deep, without following links. */
int files_remove_tree(int at, const char *name);

/* Calls visit with each name except "." and ".." until it returns false. */
int files_list(int at, const char *path, bool (*visit)(void *user, const char *name), void *user);
/* Does the same for this many names, starting at *position: 0, or where the last call ended. Returns 1 if there are no
 * more. */
int files_list_some(int at, const char *path, uint64_t *position, unsigned most,
                    bool (*visit)(void *user, const char *name), void *user);

/* Locks one byte of a file. The kernel drops the lock when its holder ends, if not before. Returns -EAGAIN if another
 * holder has it. */
int files_try_lock(int fd, uint64_t byte);
/* Takes a shared lock on the byte, or exchanges this file's exclusive lock for a shared one. */
int files_try_lock_shared(int fd, uint64_t byte);
int files_unlock(int fd, uint64_t byte);
/* Finds the lock that keeps this open file from locking the byte. */
enum files_lock { FILES_LOCK_NONE, FILES_LOCK_SHARED, FILES_LOCK_EXCLUSIVE };
int files_find_lock(int fd, uint64_t byte, enum files_lock *found);
/* Does the same for the whole file, which is cheaper and independent of the locks on bytes. */
int files_try_lock_whole(int fd);
int files_unlock_whole(int fd);

uint64_t files_wall_clock_ns(void);
uint64_t files_steady_clock_ns(void);
void files_pause_ns(uint64_t duration_ns);
/* Returns random bits for a name that other processes are unlikely to choose. */
uint64_t files_random(void);
/* Gives this thread less processor time than the application's threads, but enough to release a driver's lock soon. */
void files_lower_priority(void);
/* Returns the process id. It is cached, because each store needs it several times. */
unsigned long files_process(void);

#endif

/*
 * base.h - files, memory, checksums and kept errors, grouped by file.
 */
#ifndef INGOT_PERSIST_BASE_BASE_H
#define INGOT_PERSIST_BASE_BASE_H

#include "util/error_text.h"
#include "util/memory.h"

#include <ingot/backend.h>
#include <ingot/ingot.h>
#include <ingot/storage.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* ---- checksum.c: computes the hashes that a store uses: checksums, in the byte order of its files, and short hashes.
 * ---- */

#define CHECKSUM_SIZE 16

struct checksum {
    uint8_t bytes[CHECKSUM_SIZE];
};

/* Returns the XXH3-128 hash of size bytes. */
struct checksum checksum_of(size_t size, const void *bytes);

/* True if the bytes match the checksum. */
bool checksum_holds(const struct checksum *checksum, size_t size, const void *bytes);

/* Returns the XXH3-64 hash of an id or a name. */
uint64_t checksum_bucket_of(size_t size, const uint8_t *id);

/* ---- memory.c: allocates buffers with the caller's allocator, and memory for secrets. ---- */

/* Maps zeroed memory for secrets on pages of its own. If the process has the right to lock memory, these pages are
 * neither swapped out nor dumped. Only whole pages can be protected in this way, and an application's allocator may not
 * align to pages, so this function uses no allocator. Returns NULL if memory runs out. memory_unmap_secret erases the
 * memory before it unmaps it, and does nothing for NULL. */
void *memory_map_secret(size_t size);
void memory_unmap_secret(void *memory, size_t size);

/*
 * Makes a buffer of `size` bytes in one allocation. *bytes points to its memory, for the caller to fill. Releasing the
 * buffer frees the memory and needs no other object.
 */
ingot_status_t memory_make_buffer(const ingot_allocator_t *allocator, size_t size, ingot_buffer_t *buffer,
                                  uint8_t **bytes);

/* Calls the buffer's release function, if it has one, and empties the buffer. */
void memory_release_buffer(ingot_buffer_t *buffer);

/* ---- saves the thread's error before work that may fail, and restores it afterwards. ---- */

struct kept_error {
    int64_t code;
    char text[ERROR_TEXT_CAPACITY];
};

static inline void kept_error_save(struct kept_error *kept)
{
    kept->code = ingot_last_error_code();
    error_text_copy(kept->text, sizeof(kept->text), ingot_last_error_detail());
}

static inline void kept_error_restore(const struct kept_error *kept)
{
    (void)ingot_set_error(INGOT_SUCCESS, kept->code, "%s", kept->text);
}

/* ---- files.c: declares the system calls that a store needs.
 *
 * The persist library accesses files only through these functions, so that a test can make each system call fail. The
 * functions return 0 (or a descriptor, or a count) or a negated errno, retry EINTR, and never follow a symbolic link
 * below a directory handle. */

struct file_facts {
    uint64_t size_bytes;
    uint64_t allocated_bytes; /* of the blocks that the file system has allocated */
    uint64_t device;
    uint64_t inode;
    uint64_t modified_ns;
    uint64_t changed_ns; /* when it was last modified, renamed, or its attributes changed */
    uint64_t link_count; /* 0 if the file was deleted */
    uint32_t owner;
    uint32_t mode; /* the permissions */
    bool is_directory;
    bool is_file;
    bool is_link;
    bool is_closed; /* true if neither the group nor other users may write to the file */
};

/* Returns the result of a system call, or a negated errno. */
static inline int files_result_of(int result)
{
    return result < 0 ? -errno : result;
}

/* Does the same, and repeats the call while signals interrupt it. */
#define FILES_RESULT_OF(call) files_result_of((int)TEMP_FAILURE_RETRY(call))

/* Returns the effective user. */
uint32_t files_user(void);

/* A value for an expected owner. It means that files of any user are accepted, even if other users may write to them.
 * No user has this number, because chown takes it to mean "unchanged". */
#define FILES_ANY_USER UINT32_MAX

/* The most bytes that are read at once from a file that any user may own. A huge sparse file costs its owner nothing,
 * but reading it would use up this process's memory. */
#define FILES_ANY_USER_LIMIT ((uint64_t)256 << 20)
/* Returns INGOT_UNTRUSTED if size_bytes exceeds FILES_ANY_USER_LIMIT. */
ingot_status_t files_check_limit(uint64_t size_bytes, const char *name);

/* True if a file has the expected owner, who can therefore repair or remove it. */
static inline bool files_are_own(const struct file_facts *facts, uint32_t user)
{
    return user == FILES_ANY_USER || facts->owner == user;
}

static inline bool files_are_private(const struct file_facts *facts, uint32_t user)
{
    return user == FILES_ANY_USER || (facts->is_closed && facts->owner == user);
}

/* Set the thread's error detail, which contains `action`, `name` and the errno, and return the status for a negated
 * errno. */
ingot_status_t files_read_failed(int error, const char *action, const char *name);
ingot_status_t files_write_failed(int error, const char *action, const char *name);
/* Does the same if a lock could not be taken. Some file systems do not support locks. */
ingot_status_t files_lock_failed(int error, const char *name);

/* Sets the error detail and returns INGOT_UNTRUSTED. The detail says what was found, what is required (a file or
 * directory that this user owns and that no other user may write to), and how to fix it. */
ingot_status_t files_untrusted(const struct file_facts *facts, bool must_be_directory, uint32_t user, const char *name);

/* Creates and opens the root directory of a store, like files_open_place. If makes_parents is set, also creates the
 * directories in which it is. The path is absolute and does not end with a slash. No link below the first directory
 * that exists is followed. */
int files_make_root(const char *path, bool makes_parents);

/* Reads what the symbolic link at a path names, if only this user and the superuser can have made the link: one of them
 * owns the link and its directory, and no other user may write to the directory. `target` has PATH_MAX bytes. Returns a
 * negated errno, which is -EINVAL if there is no link, and -ELOOP if it is not such a link. */
int files_read_own_link(const char *path, char *target);

/* Makes an absolute copy of a path, which then does not depend on the working directory. */
ingot_status_t files_absolute(const char *path, char absolute[PATH_MAX]);

/* Opens the directory that contains the object at a path. Sets *name to the path's last component. */
int files_open_parent(const char *path, const char **name);
/* Opens a file for reading. Follows links in the path's directories, but the file itself must not be a link. */
int files_open_path(const char *path);

/* Open a path below the directory `at`. files_open_place costs least, but the descriptor that it returns can be used
 * only as the `at` of other functions. */
int files_open_place(int at, const char *path);
int files_open_read(int at, const char *path);
/* Makes a network file system ask its server whether a directory has changed. Otherwise, such a file system looks names
 * up in a cache, and may not see for a minute what another machine did. Returns -ENOENT if there is nothing of this
 * name. Other failures say nothing: an older kernel cannot do this, and keeps using its cache. */
int files_refresh(int at, const char *path);
int files_open_update(int at, const char *path); /* for reading and writing; creates the file if it is missing */
/* For writing. Fails if the file exists. is_readable: others may read it. */
int files_create(int at, const char *path, bool is_readable);
int files_close(int fd);

int files_facts(int fd, struct file_facts *facts);
int files_facts_at(int at, const char *path, struct file_facts *facts);

/* Reads up to `size` bytes from the beginning of a file in one system call, and returns how many. On a network file
 * system, a signal may make that fewer than the file has. */
int files_read_once(int fd, size_t size, void *bytes);
/* Reads up to `size` bytes from the offset. Returns 0 and sets *got, which is less than `size` only at the end of the
 * file. */
int files_read(int fd, uint64_t offset, size_t size, void *bytes, size_t *got);
/* Reads exactly `size` bytes. Returns INGOT_BLOB_TRUNCATED if the file is shorter. The error detail contains the
 * name. */
ingot_status_t files_read_all(int fd, const char *name, uint64_t offset, size_t size, uint8_t *bytes);
/* Writes all bytes or fails. */
int files_write(int fd, uint64_t offset, size_t size, const void *bytes);
int files_truncate(int fd, uint64_t size_bytes);
/* Returns the size of the largest file that the process may write. Writing beyond it raises a signal. */
uint64_t files_size_limit(void);
/* Sets the time at which a file was last modified. */
int files_set_time(int at, const char *path, uint64_t time_ns);
int files_sync(int fd);

int files_make_directory(int at, const char *path);
/* Lets only its owner use a directory. Returns -EACCES if it belongs to another user. */
int files_make_private(int at, const char *path);
int files_rename(int from_at, const char *from, int to_at, const char *to);
/* Exchanges two files or directories below `at`. Returns -EOPNOTSUPP if the file system or the kernel cannot do that.
 */
int files_exchange(int at, const char *path, const char *other);
int files_remove(int at, const char *path);
int files_remove_directory(int at, const char *path);
/* Removes everything under a name, a few levels deep, without following links. */
int files_remove_tree(int at, const char *name);

/* Calls `visit` with each name in the directory, except "." and "..", until it returns false. */
int files_list(int at, const char *path, bool (*visit)(void *user, const char *name), void *user);

enum files_lock { FILES_LOCK_NONE, FILES_LOCK_SHARED, FILES_LOCK_EXCLUSIVE };
/* Takes, exchanges or releases this open file's lock on one byte. The kernel releases the lock when the open file is
 * closed, or when its process ends. Returns -EAGAIN if another open file's lock on the byte forbids this one. */
int files_set_lock(int fd, uint64_t byte, enum files_lock wanted);
/* Finds the lock that keeps this open file from locking the byte. */
int files_find_lock(int fd, uint64_t byte, enum files_lock *found);
/* Lock and unlock the whole file. This is cheaper than locking a byte, and independent of the locks on bytes. */
int files_try_lock_whole(int fd);
int files_unlock_whole(int fd);

uint64_t files_wall_clock_ns(void);
uint64_t files_steady_clock_ns(void);
void files_pause_ns(uint64_t duration_ns);
/* Returns random bits for a name that other processes are unlikely to choose. */
uint64_t files_random(void);

/* ---- replacement.c: writes a new file that replaces another one when it is complete. ---- */

#define REPLACEMENT_NAME_CAPACITY 256u

struct replacement {
    int parent;
    int fd; /* the new file */
    char name[REPLACEMENT_NAME_CAPACITY];
    char new_name[REPLACEMENT_NAME_CAPACITY];
};

/* Creates and locks the new file, next to the file at the path. Returns INGOT_BUSY if another process is replacing that
 * file. */
ingot_status_t replacement_begin(struct replacement *replacement, const char *path);
/* Writes bytes to the new file. */
ingot_status_t replacement_write(const struct replacement *replacement, uint64_t offset, size_t size,
                                 const void *bytes);
/* Ends the replacement. If `status` is INGOT_SUCCESS, renames the new file, so that it replaces the old one. If
 * `status` is a failure, or if the renaming fails, removes the new file. Returns the first failure. */
ingot_status_t replacement_end(struct replacement *replacement, ingot_status_t status);

#endif

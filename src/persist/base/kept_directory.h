/*
 * kept_directory.h - keeps a directory open for many threads, under a descriptor that the application may close.
 *
 * The descriptor stays the same even if it comes to refer to another directory, so threads that use it meanwhile do not
 * notice. Only if other code of the process has closed it, it changes, as in util/kept_file.h. Threads read the fields
 * without a lock. A thread that sees only a part of another thread's change takes the directory for lost, and looks
 * again under the lock that the changes require.
 */
#ifndef INGOT_PERSIST_BASE_KEPT_DIRECTORY_H
#define INGOT_PERSIST_BASE_KEPT_DIRECTORY_H

#include <stdatomic.h>

#include "persist/base/files.h"

struct kept_directory {
    atomic_int fd; /* -1: none; stored last (release) */
    _Atomic uint64_t device;
    _Atomic uint64_t inode;
};

enum kept_state {
    KEPT_OPEN,
    KEPT_DELETED, /* it is open, but has no name anymore */
    KEPT_LOST     /* there is no descriptor, or it is not Ingot's anymore */
};

void kept_directory_init(struct kept_directory *kept);
/* Examines the directory. Sets `facts` unless it is lost. Returns 0 or a negated errno. */
int kept_directory_examine(const struct kept_directory *kept, enum kept_state *state, struct file_facts *facts);
bool kept_directory_is_lost(const struct kept_directory *kept);
/* Keeps the directory of `fd` instead, and takes over `fd` even if this fails. Returns 0 or a negated errno. Requires
 * the caller's lock. */
int kept_directory_replace(struct kept_directory *kept, int fd);
/* Closes the directory, unless it is lost. */
void kept_directory_end(struct kept_directory *kept);

#endif

/*
 * stopped_holder.h - finds out whether a process that holds a lock is stopped.
 */
#ifndef INGOT_PERSIST_BASE_STOPPED_HOLDER_H
#define INGOT_PERSIST_BASE_STOPPED_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* True if a process that is stopped, by a signal or a debugger, holds the lock on a byte of a file. False if it cannot
 * be found: the process belongs to another user, container or machine, or /proc is not mounted. */
bool stopped_holder_exists(uint64_t inode, uint64_t byte);

#endif

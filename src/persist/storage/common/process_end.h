/*
 * process_end.h - runs the storages' last work when the process ends, and then prevents driver calls by their threads.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_PROCESS_END_H
#define INGOT_PERSIST_STORAGE_COMMON_PROCESS_END_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the work to do when the process ends. `begin` runs first, and returns how long it may delay the end. `finish`
 * runs once no other thread is in a driver, or when the wait for that has timed out. Only one pair of functions is
 * kept, so every call must pass the same pair. */
void process_end_set_work(uint64_t (*begin)(uint64_t now_ns), void (*finish)(void));

/* Watches for the end of the process. Must be called after a driver is loaded and before work for the driver is queued,
 * so that this file's handler runs before the driver shuts down. May be called any number of times. */
void process_end_watch(void);

/* Does the same for work that calls no driver. Registers the handler only if it is not registered yet, so that a
 * process that opens stores again and again does not use up the limit. */
void process_end_watch_once(void);

/* If the main thread calls this, and later ends the process, this file's handler runs before all other handlers of
 * exit(). The functions above call this, too. */
void process_end_watch_main_thread(void);

/* Must be called before a driver is called in the background. Returns false if the process is ending; the driver must
 * then not be called. If it returns true, the same thread must call process_end_leave afterwards. */
bool process_end_enter(void);
void process_end_leave(void);

/* Do the same for a thread that is about to be created, so that a process that ends right afterwards waits for it. The
 * creator calls process_end_reserve, and if the thread cannot be created, process_end_cancel. The thread calls
 * process_end_enter_reserved and process_end_leave. */
bool process_end_reserve(void);
void process_end_cancel(void);
void process_end_enter_reserved(void);

/* Returns when the process began to end, after the storages' last work, on the clock of files_steady_clock_ns. Returns
 * 0 if it is not ending. */
uint64_t process_end_began_ns(void);

/* Called in a forked child: the parent's other threads are not in its drivers. */
void process_end_begin_child(void);

#endif

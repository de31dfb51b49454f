/*
 * process_end.h - marks the moment after which storages must not call drivers by themselves.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_PROCESS_END_H
#define INGOT_PERSIST_STORAGE_COMMON_PROCESS_END_H

#include <stdbool.h>
#include <stdint.h>

/* Sets additional work for the end of the process. begin runs first and returns the longest time that the work may
 * take; finish runs when no thread calls a driver anymore. There is only one such pair; it may be set any number of
 * times. */
void process_end_set_work(uint64_t (*begin)(uint64_t now_ns), void (*finish)(void));

/* Watches for the end of the process. Must be called after a driver is loaded and before work that calls it is
 * deferred, so that this handler runs before the driver shuts down. May be called any number of times. */
void process_end_watch(void);

/* If the main thread calls this, the end of the process begins before any other handler of exit(), unless another
 * thread calls exit(). process_end_watch does this, too. */
void process_end_watch_main_thread(void);

/* Returns false if the process is ending, so no driver may be called. Otherwise process_end_leave must follow in
 * this thread. */
bool process_end_enter(void);
void process_end_leave(void);

/* Returns the longest expected time of a driver call that may begin without a limit, if the end of the process may
 * be delayed by exit_time_ns. */
uint64_t process_end_max_call_ns(uint64_t exit_time_ns);

#endif

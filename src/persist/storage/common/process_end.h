/*
 * process_end.h - the moment from which on storages may no longer call drivers by themselves.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_PROCESS_END_H
#define INGOT_PERSIST_STORAGE_COMMON_PROCESS_END_H

#include <stdbool.h>
#include <stdint.h>

/* Sets what is done besides: first of all begin, which returns the longest time that it may take, and finish when no
 * driver is called any more. There is only one such pair; it may be set any number of times. */
void process_end_set_work(uint64_t (*begin)(uint64_t now_ns), void (*finish)(void));

/* Watches for the end of the process. To be called before work is deferred that calls a driver, when the driver is
 * loaded, so that this handler runs before the driver shuts down. Any number of times. */
void process_end_watch(void);

/* false: the process is ending, and no driver is to be called. Otherwise process_end_leave must follow, in this
 * thread. */
bool process_end_enter(void);
void process_end_leave(void);

/* Returns how long a call of a driver may be expected to take that begins without a limit, if the end of the process
 * may be held up for exit_time_ns. */
uint64_t process_end_max_call_ns(uint64_t exit_time_ns);

#endif

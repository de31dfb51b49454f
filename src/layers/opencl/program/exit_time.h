/*
 * exit_time.h - determines how long storing may delay the application's last releases and its exit.
 *
 * This is the exit time of the store. If `ingot run` stores after the application what the application does not store
 * itself, and the user has set no exit time, it is a tenth of the time for which the application has used programs, at
 * least the time that a kernel is expected to take, and at most the default. So storing delays short applications only
 * a little.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_EXIT_TIME_H
#define INGOT_LAYERS_OPENCL_PROGRAM_EXIT_TIME_H

#include <stdint.h>

/* Must be called before the first shadow is created, and not by two threads at once. */
void exit_time_begin(void);
/* Takes the time of a flush, or 0, off the store's exit time. Returns what is left of it in milliseconds, INGOT_NONE,
 * or INGOT_UNLIMITED. Also called after each compilation, because the process may end without another call. */
uint64_t exit_time_spend(uint64_t spent_ms);

#endif

/*
 * error.h - the calling thread's sentence about its last failure.
 *
 * A fixed buffer a thread: nothing to free when a thread or the process ends. Build logs longer than that are cut at
 * their end; their first lines are the ones that matter.
 */
#ifndef INGOT_CORE_ERROR_H
#define INGOT_CORE_ERROR_H

#include <ingot/backend.h>

/* Sets the sentence and returns status, so that `return error_set(...)` reads as one step. */
#define error_set ingot_set_error_detail

ingot_status_t error_null_argument(const char *name);
ingot_status_t error_out_of_memory(void);

#endif

/*
 * error.h - keeps the error message of each thread's last failure.
 *
 * The thread's first failure allocates a buffer for the message, which is freed when the thread ends. The buffer is not
 * a thread-local variable: a running program can load a library with initial-exec variables (striped_count.h) only if
 * all thread-local variables of the library fit in a few hundred bytes. A build log that does not fit in the buffer
 * loses its end, because its first lines matter most.
 */
#ifndef INGOT_CORE_BASE_ERROR_H
#define INGOT_CORE_BASE_ERROR_H

#include <stdbool.h>

#include <ingot/backend.h>

#include "util/error_text.h"

enum { ERROR_DETAIL_CAPACITY = ERROR_TEXT_CAPACITY };

/* A copy of the thread's error message. It is made before code runs that may call Ingot, and restored afterwards. */
struct error_detail {
    bool has_failed;
    int64_t code;
    char text[ERROR_DETAIL_CAPACITY];
};
void error_save(struct error_detail *detail);
void error_restore(const struct error_detail *detail);
/* Calls action(a, b) and then restores the thread's error message. Used when objects are released, because that runs
 * code of backends and applications. */
void error_keep(void (*action)(void *a, void *b), void *a, void *b);

/* Sets the error message and returns status, so that `return error_set(...)` reads as one step. */
#define error_set ingot_set_error_detail

ingot_status_t error_null_argument(const char *name);
ingot_status_t error_out_of_memory(void);

#endif

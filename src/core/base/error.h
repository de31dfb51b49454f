/*
 * error.h - the calling thread's sentence about its last failure.
 *
 * A fixed buffer a thread, made by its first failure and freed when it ends. It is no thread-local variable: a program
 * that runs already has room for a few hundred bytes of those, of a library with initial-exec ones
 * (memory_cache/stripe.h), and cannot load it if they are more. Build logs longer than the buffer are cut at their end;
 * their first lines are the ones that matter.
 */
#ifndef INGOT_CORE_BASE_ERROR_H
#define INGOT_CORE_BASE_ERROR_H

#include <stdbool.h>

#include <ingot/backend.h>

enum { ERROR_DETAIL_CAPACITY = 8192 };

/* The thread's sentence, put aside while code that may call Ingot runs. */
struct error_detail {
    bool has_failed;
    int64_t code;
    char text[ERROR_DETAIL_CAPACITY];
};
void error_save(struct error_detail *detail);
void error_restore(const struct error_detail *detail);
/* Calls action; the sentence is the same afterwards. For releases, which free what others made. */
void error_keep(void (*action)(void *a, void *b), void *a, void *b);

/* Sets the sentence and returns status, so that `return error_set(...)` reads as one step. */
#define error_set ingot_set_error_detail

ingot_status_t error_null_argument(const char *name);
ingot_status_t error_out_of_memory(void);

#endif

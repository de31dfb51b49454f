/*
 * main_thread.h - finds out whether a thread is the main thread, and calls a function when the main thread ends the
 * process.
 */
#ifndef INGOT_PERSIST_BASE_MAIN_THREAD_H
#define INGOT_PERSIST_BASE_MAIN_THREAD_H

#include <stdbool.h>

/* True if the calling thread is the main thread. */
bool main_thread_is_this(void);
/* Makes the C library call a function when the main thread calls exit() or returns from main, before all functions that
 * were registered with atexit. The caller must be the main thread. Returns false if the function will not be called. */
bool main_thread_call_at_exit(void (*function)(void));

#endif

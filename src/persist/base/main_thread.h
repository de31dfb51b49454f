/*
 * main_thread.h - detects the thread in which the process began, and registers what it does first in exit().
 */
#ifndef INGOT_PERSIST_BASE_MAIN_THREAD_H
#define INGOT_PERSIST_BASE_MAIN_THREAD_H

#include <stdbool.h>

/* Returns true if the calling thread is the main one. */
bool main_thread_is_this(void);
/* Calls a function when the main thread calls exit() or returns from main, before all functions of atexit. The caller
 * must be the main thread. Returns false if the function will not be called. */
bool main_thread_call_at_exit(void (*function)(void));

#endif

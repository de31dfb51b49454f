/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file pending.h
 * Programs that an application has asked for and takes later. Library ingot::cache; exported by libingot-cache only.
 *
 * ingot_cache_opencl_begin, ingot_cache_level_zero_begin, ingot_cache_cuda_begin and ingot_cache_hip_begin have the
 * arguments of the functions that build programs, and return at once. If the program is not in the cache, its request
 * and a wish are left in the store, and a builder may compile it (doc/builders.md). The matching take returns the
 * program: it loads it, waits for whoever compiles it, or compiles it if nobody does. So a program can always be taken,
 * whether there are builders or not.
 *
 * Begin all programs first, and then take them. While somebody else compiles the program that is taken, the thread
 * compiles another one that is begun and that nobody else compiles. So threads, processes and machines that begin the
 * same programs share the work.
 *
 * @code
 * #include <ingot/opencl.h>
 * #include <ingot/pending.h>
 *
 * // Uses a plain kernel until the specialised one is there. Called once per frame.
 * void draw(ingot_pending_t *pending, cl_program *program)
 * {
 *     if (*pending != NULL && ingot_pending_poll(*pending) == INGOT_SUCCESS) {
 *         (void)ingot_cache_opencl_take(*pending, program, NULL);
 *         *pending = NULL;
 *     }
 * }
 * @endcode
 *
 * Nothing of Ingot runs in another thread of the application, or in exit(). Threads: a pending program is for one
 * thread at a time; any number of threads may use different ones. In a child of fork, only take and drop are useful for
 * its parent's: take compiles.
 */
#ifndef INGOT_PENDING_H
#define INGOT_PENDING_H

#include <ingot/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A program that was begun. Ended by the take of its backend, or by ingot_pending_drop, before the cache is released.
 *  If the cache is released first, take compiles. */
typedef struct ingot_pending *ingot_pending_t;

/**
 * Says whether the program is there. Does not compile or wait. Reads a few files; asks a server at most every 100 ms,
 * within the server's time limit.
 *
 * @retval INGOT_SUCCESS         It is there: take loads it.
 * @retval INGOT_BUSY            It is not there yet. A wish was left, but perhaps nobody answers it.
 * @retval INGOT_BUILD_FAILED    Somebody could not compile or store it. take compiles it, and returns the program or
 *                               the compiler's own log. This and the next statuses do not change any more.
 * @retval INGOT_NOT_CACHEABLE   No builder can compile it: it has no id, only the driver's own calls can compile it, or
 *                               it is for several devices. take compiles it.
 * @retval INGOT_NOT_FOUND       There is no store in which wishes could be left: the cache is NULL, compiles
 *                               everything, is read-only, or is its parent's in a child of fork. take compiles it.
 * @retval INGOT_INVALID_ARGUMENTS  @p pending is NULL.
 * @return Otherwise why the request or the wish could not be stored. take compiles it.
 */
INGOT_API ingot_status_t ingot_pending_poll(ingot_pending_t pending);

/**
 * Waits until ingot_pending_poll returns anything but INGOT_BUSY. Never compiles in this thread.
 *
 * @param max_time_ms  0 or INGOT_UNLIMITED: no limit. Without a builder, the wait then has no end.
 * @retval INGOT_BUSY  The time has passed.
 * @return Otherwise as ingot_pending_poll.
 */
INGOT_API ingot_status_t ingot_pending_wait(ingot_pending_t pending, uint64_t max_time_ms);

/** Ends a pending program that is not needed any more. Its wish stays, and may be answered. If another thread of this
 *  process compiles the program at the moment, as part of a take, waits until that has ended. So the application may
 *  then destroy the program's context. In an event callback of the thread that compiles it, does not wait; do not take
 *  the program there. Does nothing for NULL. */
INGOT_API void ingot_pending_drop(ingot_pending_t pending);

#ifdef __cplusplus
}
#endif

#endif

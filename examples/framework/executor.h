/*
 * executor.h - runs layers of any shape, forward and backward, and limits how many shapes keep programs and objects
 * in memory.
 *
 * Start here. The executor keeps:
 *  - programs, each compiled for one shape, in the in-memory cache of Ingot's context. A program's group is the
 *    name of its shape. All sessions share programs.
 *  - each session's own objects, in an ingot_object_cache under (session, shape, name): the plan of a layer, its
 *    packed bias, and the data that a forward operation leaves for the backward operation.
 *
 * In both caches, each shape is a group. Both limit the number of groups, and drop the oldest group as a whole if
 * there are too many.
 */
#ifndef FRAMEWORK_EXECUTOR_H
#define FRAMEWORK_EXECUTOR_H

#include <ingot/object_cache.h>
#include <ingot/persist.h>

#include "device.h"
#include "objects.h"

struct executor {
    struct device *device;
    ingot_storage_t storage; /* NULL: programs are not stored for other processes */
    ingot_object_cache_t objects;
    struct object_counts *counts;
    atomic_size_t from_storage;
    atomic_size_t recomputed; /* forward operations whose result was dropped before the backward operation */
};

/* The object cache has one group per session and shape, so its limit is sessions times shapes. */
void executor_open(struct executor *executor, struct device *device, ingot_storage_t storage,
                   struct object_counts *counts, size_t max_shapes, size_t session_count);
void executor_close(struct executor *executor);

/* One thread's memory for operations. scratch_open makes it large enough for every shape up to `largest`. */
struct scratch {
    double *in;
    double *out;
};
void scratch_open(struct scratch *scratch, const struct shape *largest);
void scratch_close(struct scratch *scratch);

/* Run the forward or the backward operation of a step. Different threads may run the two. */
void executor_forward(struct executor *executor, const char *session, const struct shape *shape, size_t step,
                      struct scratch *scratch);
void executor_backward(struct executor *executor, const char *session, const struct shape *shape, size_t step,
                       struct scratch *scratch);

/* Runs the largest shape once to check that it fits in memory, then releases its objects and its program. */
void executor_warm_up(struct executor *executor, const struct shape *largest, struct scratch *scratch);
/* Releases a session's objects; programs stay for other sessions. */
void executor_end_session(struct executor *executor, const char *session);

/* Returns the maximum size in bytes of the executor's own objects, for this many threads and unfinished steps. */
size_t executor_object_limit(size_t max_shapes, size_t session_count, size_t thread_count, size_t step_count,
                             const struct shape *largest);

#endif

/*
 * executor.h - runs layers of any shape, forward and backward, and bounds the memory for each shape's objects.
 *
 * Start here. The executor keeps:
 *  - programs, compiled for a shape, in the in-memory cache of Ingot's context, in a group of the shape's name. All
 *    sessions share them.
 *  - a session's own objects in an ingot_object_cache, at (session, shape, name): the plan of a layer, its packed bias,
 *    and the data that a forward operation leaves for the backward one.
 * In both caches a shape is a group, and both limit the number of groups: the oldest is dropped as a whole.
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
    size_t max_program_groups;
    atomic_size_t from_storage;
    atomic_size_t recomputed; /* forward operations whose result was dropped before the backward operation */
};

/* The object cache has one group per session and shape, so its limit is sessions times shapes. */
void executor_open(struct executor *executor, struct device *device, ingot_storage_t storage,
                   struct object_counts *counts, size_t max_shapes, size_t session_count);
void executor_close(struct executor *executor);

/* Allocates one thread's memory for operations, large enough for every shape up to this one. */
struct scratch {
    double *in;
    double *out;
};
void scratch_open(struct scratch *scratch, const struct shape *largest);
void scratch_close(struct scratch *scratch);

/* Runs one operation of a step. Any thread may run the backward operation for another thread's forward operation. */
void executor_forward(struct executor *executor, const char *session, const struct shape *shape, size_t step,
                      struct scratch *scratch);
void executor_backward(struct executor *executor, const char *session, const struct shape *shape, size_t step,
                       struct scratch *scratch);

/* Runs the largest shape once to check that it fits, then releases its objects and its program. */
void executor_warm_up(struct executor *executor, const struct shape *largest, struct scratch *scratch);
/* Releases a session's objects; programs stay for other sessions. */
void executor_end_session(struct executor *executor, const char *session);

/* Returns the maximum bytes of the executor's own objects, with this many threads and unfinished steps. */
size_t executor_object_limit(size_t max_shapes, size_t session_count, size_t thread_count, size_t step_count,
                             const struct shape *largest);

#endif

/*
 * schedule.h - runs the steps of two sessions on several threads. A step is a forward operation and, later, a
 * backward operation.
 */
#ifndef FRAMEWORK_SCHEDULE_H
#define FRAMEWORK_SCHEDULE_H

#include "executor.h"

enum { SESSION_COUNT = 2, STEPS_PER_SHAPE = 4, HOT_SHAPES = 8 };

struct schedule_result {
    size_t steps;
    size_t handed_over;         /* backward operations in a different thread than their forward operation */
    size_t most_program_groups; /* the most groups seen in the in-memory cache */
    size_t most_object_groups;
};

/* Returns the maximum number of forward operations whose backward operation has not begun. */
size_t schedule_max_pending(size_t thread_count);
/* Runs the steps and ends both sessions. Most steps have one of a few hot shapes; every fourth step has a new shape. */
struct schedule_result schedule_run(struct executor *executor, size_t thread_count, size_t shape_count,
                                    const struct shape *largest);

#endif

/*
 * worker.h - the work of a worker process: lists the devices, then does one task after another. A task is a request
 * for a device. All workers make the same list of tasks, and take the next one by a counter that they share.
 *
 * A worker tells the tool what it does by messages, which are JSON objects with its number as "worker":
 * - "devices": the texts of all devices; "chosen": those that are used; "jobs" and "cost_ms": the number of all tasks,
 *   and how long they took when they were recorded. The first worker also tells the outcome "without_device" of each
 *   request for which there is no task.
 * - "task", "key", "name", "namespace", "device", "build_time_ms": it begins a task.
 * - "notice": what people should know.
 * - "outcome", "message", "build_time_ns": the task has ended. report.c has the outcomes.
 */
#ifndef INGOT_CLI_BUILD_WORKER_H
#define INGOT_CLI_BUILD_WORKER_H

#include <stdatomic.h>

#include "cli/base/base.h"
#include "cli/build/plan.h"
#include "cli/usage/command.h"

#define WORKER_NO_TASK SIZE_MAX

/* Set in the parent; the child has a copy. */
struct worker_setup {
    struct plan *plan;
    const struct common_options *options; /* they name the store, which exists, but not its namespace */
    struct text_list selectors;           /* the chosen devices; none: all */
    bool asks_server;                     /* asks the server that the environment names before it compiles */
    bool is_pull;                         /* compiles nothing */
    bool is_check;                        /* compiles and stores nothing, and loads what there is */
    bool is_watch;                        /* the tasks are wishes: of the server, if it is asked, or of the store */
    bool is_for_users;    /* with is_watch: the tasks are the store's wishes, also if a server is asked */
    ingot_storage_t used; /* with is_for_users: the store, in the parent */
    uint64_t idle_ns;     /* with is_watch: ends after this time without a wish; 0: never */
    int socket;
    atomic_size_t *next_task; /* shared by all workers */
    size_t number;
    size_t first_task; /* a task to try again first, or WORKER_NO_TASK */
    bool is_first;
};

/* Does tasks until none is left, or answers wishes. Never returns. user: a struct worker_setup. */
void worker_run(void *user);

#endif

/*
 * schedule.h - gives requests to worker processes, under limits of time and memory for each.
 */
#ifndef INGOT_CLI_BUILD_SCHEDULE_H
#define INGOT_CLI_BUILD_SCHEDULE_H

#include "cli/build/message.h"
#include "cli/build/worker.h"

/* The default limits. */
#define SCHEDULE_TIME_NS (UINT64_C(600) * 1000000000)
#define SCHEDULE_MEMORY_BYTES (UINT64_C(4) << 30)

enum { SCHEDULE_MOST_JOBS = 1024 };

struct schedule_limits {
    uint32_t job_count; /* worker processes at once, at least 1 */
    uint64_t time_ns;   /* limit for one program, and for listing the devices */
    uint64_t memory_bytes;
};

/* Functions that are called in the tool's own process. */
struct schedule_calls {
    /* Called when the devices are known; `texts` are their texts. Sets is_chosen for the devices that requests are
     * built for. If there is nothing to build, prints a message and returns false. */
    bool (*choose)(size_t count, char *const *texts, bool *is_chosen, void *user);
    /* Called when all jobs are known. */
    void (*begin)(uint64_t job_count, uint64_t cost_ms, void *user);
    /* Called when a job has ended. */
    void (*result)(const struct plan_request *request, const char *device, const struct message *result, void *user);
    /* Called after each wait for the workers, usually every 25 ms. */
    void (*tick)(void *user);
    void *user;
};

/* Returns the number of processors that this process may use, at least 1 and at most SCHEDULE_MOST_JOBS. */
uint32_t schedule_count_processors(void);

/* Builds the plan's requests for all chosen devices of their backends, device by device, in the order of the plan. If
 * two devices have the same text, both probably give the same ids, so the store already has the programs when the
 * second one's turn comes. Returns EXIT_DONE even if programs failed, and EXIT_INTERRUPTED after a Ctrl-C. On failure,
 * prints a message and returns EXIT_FAILED. */
int schedule_run(const struct worker_setup *setup, const struct schedule_limits *limits,
                 const struct schedule_calls *calls);

#endif

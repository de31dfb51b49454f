/*
 * schedule.h - gives requests to worker processes, under limits of time and memory for each.
 */
#ifndef INGOT_CLI_BUILD_SCHEDULE_H
#define INGOT_CLI_BUILD_SCHEDULE_H

#include "cli/build/report.h"
#include "cli/build/worker.h"

enum { SCHEDULE_MOST_JOBS = 1024 };

struct schedule_limits {
    uint64_t job_count; /* worker processes at once, at least 1 */
    uint64_t time_ns;   /* limit for one program, and for listing the devices */
    uint64_t memory_bytes;
};

/* Replaces limits that are 0 by the default ones: as many workers as this process may use processors, ten minutes and
 * 4 GiB. */
void schedule_take_defaults(struct schedule_limits *limits);

/* Builds the plan's requests for all chosen devices of their backends, device by device, in the order of the plan. If
 * two devices have the same text, both probably give the same ids, so the store already has the programs when the
 * second one's turn comes. Sets what the setup has for each worker. Returns EXIT_DONE even if programs failed, and
 * EXIT_INTERRUPTED after a Ctrl-C. On failure, prints a message and returns EXIT_FAILED. */
int schedule_run(const struct worker_setup *setup, const struct schedule_limits *limits, struct report *report);

#endif

/*
 * schedule.h - gives requests to worker processes, under limits of time and memory for each.
 */
#ifndef INGOT_CLI_BUILD_SCHEDULE_H
#define INGOT_CLI_BUILD_SCHEDULE_H

#include "cli/build/report.h"
#include "cli/build/worker.h"
#include "cli/usage/command.h"

/* The default limits. */
#define SCHEDULE_TIME_NS (UINT64_C(600) * 1000000000)
#define SCHEDULE_MEMORY_BYTES (UINT64_C(4) << 30)

enum { SCHEDULE_MOST_JOBS = 1024 };

struct schedule_limits {
    uint32_t job_count; /* worker processes at once, at least 1 */
    uint64_t time_ns;   /* limit for one program, and for listing the devices */
    uint64_t memory_bytes;
};

/* Returns the number of processors that this process may use, at least 1 and at most SCHEDULE_MOST_JOBS. */
uint32_t schedule_count_processors(void);

/* Builds the plan's requests for all devices of their backends that one of the selectors selects, device by device, in
 * the order of the plan. Without selectors, all devices are selected. If two devices have the same text, both probably
 * give the same ids, so the store already has the programs when the second one's turn comes. Returns EXIT_DONE even if
 * programs failed, and EXIT_INTERRUPTED after a Ctrl-C. On failure, prints a message and returns EXIT_FAILED. */
int schedule_run(const struct worker_setup *setup, const struct schedule_limits *limits,
                 const struct text_list *selectors, struct report *report);

#endif

/*
 * report.h - shows the progress and the summary of `ingot build`, as text or as JSON.
 */
#ifndef INGOT_CLI_BUILD_REPORT_H
#define INGOT_CLI_BUILD_REPORT_H

#include <cjson/cJSON.h>

#include "cli/base/progress.h"
#include "cli/build/message.h"
#include "cli/build/plan.h"

/* What is reported: `ingot build`, with --stale, and `ingot pull --for`. */
enum report_kind { REPORT_BUILD, REPORT_STALE, REPORT_PULL };

struct report {
    const struct plan *plan;
    bool is_json;
    enum report_kind kind;
    struct progress progress;
    cJSON *problems; /* with is_json; otherwise problems are printed when they occur */
    cJSON *devices;
    uint64_t counts[OUTCOME_COUNT];
    uint64_t job_count;
    uint64_t without_device_count; /* requests for which no device is chosen */
    uint64_t cost_ms;              /* the recorded build time of all jobs */
    uint64_t done_cost_ms;
    uint64_t build_ns; /* how long it took to compile here */
    uint64_t begun_ns;
};

void report_init(struct report *report, const struct plan *plan, bool is_json, enum report_kind kind);
/* Counts a request for which there is no job. */
void report_leave_out(struct report *report, const struct plan_request *request);
void report_device(struct report *report, const char *text);
void report_begin(struct report *report, uint64_t job_count, uint64_t cost_ms);
void report_result(struct report *report, const struct plan_request *request, const char *device,
                   const struct message *result);
void report_tick(struct report *report);
/* True if everything that can be built is in the store. */
bool report_is_good(const struct report *report);
/* Prints the summary. bundled_count: the number of entries in the bundle; NULL: no bundle. */
void report_finish(struct report *report, bool is_interrupted, const uint64_t *bundled_count);

#endif

/*
 * report.h - shows the progress and the summary of `ingot build`, as text or as JSON.
 */
#ifndef INGOT_CLI_BUILD_REPORT_H
#define INGOT_CLI_BUILD_REPORT_H

#include <cjson/cJSON.h>

#include "cli/base/base.h"
#include "cli/build/plan.h"

/* What is reported: `ingot build`, with --stale, with --check, `ingot pull --for`, and --watch, which reports each
 * outcome at once. */
enum report_kind { REPORT_BUILD, REPORT_STALE, REPORT_CHECK, REPORT_PULL, REPORT_WATCH };

enum { REPORT_OUTCOMES = 12 };

struct report {
    const struct plan *plan;
    bool is_json;
    enum report_kind kind;
    struct progress progress;
    cJSON *problems; /* with is_json; otherwise problems are printed when they occur */
    cJSON *devices;  /* those that are used */
    uint64_t counts[REPORT_OUTCOMES];
    uint64_t job_count;
    uint64_t done_count;
    uint64_t cost_ms; /* the recorded build time of all jobs */
    uint64_t done_cost_ms;
    uint64_t build_ns; /* how long it took to compile here */
    uint64_t begun_ns;
};

void report_init(struct report *report, const struct plan *plan, bool is_json, enum report_kind kind);
/* Takes a worker's list of devices and tasks (worker.h). */
void report_begin(struct report *report, const cJSON *message);
/* Counts an outcome. task, message: as a worker sends them; the outcome may be the task's only message. Returns false
 * if it is none. */
bool report_outcome(struct report *report, const cJSON *task, const cJSON *message);
void report_tick(struct report *report);
/* True if everything that can be built is in the store. */
bool report_is_good(const struct report *report);
/* Prints the summary. */
void report_finish(struct report *report, bool is_interrupted);

#endif

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
    bool is_json;
    enum report_kind kind;
    bool is_stale;          /* the programs come from a store, and a program without a device is not a failure */
    const char *name_space; /* the namespace of the current jobs; NULL without is_stale */
    struct progress progress;
    cJSON *problems; /* with is_json; otherwise problems are printed when they occur */
    cJSON *devices;
    uint64_t counts[OUTCOME_COUNT];
    uint64_t job_count;
    uint64_t unrecorded_count;     /* programs that cannot be built from a recipe */
    uint64_t without_device_count; /* programs for which no device is chosen */
    uint64_t unknown_count;        /* with is_stale: the sum of unknown_count in struct stale_part */
    uint64_t cost_ns;              /* the recorded build time of all jobs */
    uint64_t done_cost_ns;
    uint64_t build_ns; /* how long it took to compile here */
    uint64_t begun_ns;
};

void report_init(struct report *report, bool is_json, enum report_kind kind);
/* Begins the jobs of a namespace. The counts are explained in struct stale_part. */
void report_name_space(struct report *report, const char *name_space, uint64_t unrecorded_count,
                       uint64_t unknown_count);
/* Counts a program for which there is no job; is_buildable is false if no device could change that. */
void report_leave_out(struct report *report, const ingot_recipe_program_t *facts, bool is_buildable);
void report_device(struct report *report, const char *text);
void report_begin(struct report *report, uint64_t job_count, uint64_t cost_ns);
void report_result(struct report *report, const ingot_recipe_program_t *facts, const char *device,
                   const struct message *result);
void report_tick(struct report *report);
/* True if everything that can be built is in the store. */
bool report_is_good(const struct report *report);
/* Prints the summary. bundled_count: the number of entries in the bundle; NULL: no bundle. */
void report_finish(struct report *report, bool is_interrupted, const uint64_t *bundled_count);

#endif

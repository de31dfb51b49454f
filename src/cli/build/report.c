/*
 * report.c - counts results, and prints the progress line and the summary; see build.h.
 */
#include "cli/build/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/base.h"

/* How a task ended. After the first ones, the store has the program. A request without a device has no task. */
enum { BUILT = 0, GOOD_OUTCOMES = 4, WITHOUT_DEVICE = REPORT_OUTCOMES - 1 };
static const struct {
    const char *name;
    const char *words;
} outcomes[REPORT_OUTCOMES] = {{"built", "built"},
                               {"pulled", "pulled"},
                               {"present", "present"},
                               {"busy", "compiled elsewhere"},
                               {"failed", "failed"},
                               {"not_stored", "not stored"},
                               {"missing", "missing on the server"},
                               {"would_compile", "would be compiled"},
                               {"crashed", "crashed the worker"},
                               {"timed_out", "ran out of time"},
                               {"too_large", "ran out of memory"},
                               {"without_device", "without a device"}};

void report_init(struct report *report, const struct plan *plan, bool is_json, enum report_kind kind)
{
    *report = (struct report){.plan = plan, .is_json = is_json, .kind = kind, .begun_ns = units_now_ns()};
    progress_init(&report->progress, kind == REPORT_PULL ? "pulling" : kind == REPORT_CHECK ? "checking" : "building");
    report->problems = cJSON_CreateArray();
}

void report_begin(struct report *report, const cJSON *message)
{
    report->devices = cJSON_Duplicate(cJSON_GetObjectItem(message, "chosen"), true);
    report->job_count = json_get_u64(message, "jobs");
    report->cost_ms = json_get_u64(message, "cost_ms");
    report->begun_ns = units_now_ns();
}

bool report_outcome(struct report *report, const cJSON *task, const cJSON *message)
{
    static const char *const members[] = {"key", "name", "device", "namespace"};
    const char *outcome = json_text(message, "outcome");
    size_t i = 0;
    while (outcome != NULL && i < REPORT_OUTCOMES && strcmp(outcomes[i].name, outcome) != 0)
        ++i;
    if (outcome == NULL || i == REPORT_OUTCOMES)
        return false;
    ++report->counts[i];
    report->done_count += i != WITHOUT_DEVICE;
    report->done_cost_ms += i != WITHOUT_DEVICE ? json_get_u64(task, "build_time_ms") : 0;
    report->build_ns += i == BUILT ? json_get_u64(message, "build_time_ns") : 0;
    if (report->kind != REPORT_WATCH && (i < GOOD_OUTCOMES || (i == WITHOUT_DEVICE && report->kind == REPORT_STALE)))
        return true;
    cJSON *problem = cJSON_CreateObject();
    for (size_t j = 0; j < sizeof(members) / sizeof(members[0]); ++j)
        json_add_text(problem, members[j], json_text(task, members[j]));
    json_add_text(problem, "outcome", report->is_json ? outcome : outcomes[i].words);
    json_add_text(problem, "message", json_text(message, "message"));
    if (report->is_json && report->kind != REPORT_WATCH) {
        (void)cJSON_AddItemToArray(report->problems, problem);
        return true;
    }
    progress_fini(&report->progress);
    output_print(problem, report->is_json,
                 "[namespace?{namespace}: ]{key:short} {name}[device?[name? ]for {device}]: {outcome}"
                 "[message?: {message}]\n");
    (void)fflush(stdout);
    return true;
}

/* Estimates the remaining time from the time so far. If the requests have build times, each is weighted by its build
 * time. */
void report_tick(struct report *report)
{
    char line[128];
    char left[UNITS_TEXT_SIZE];
    const bool is_weighed = report->done_cost_ms != 0;
    const double all = (double)(is_weighed ? report->cost_ms : report->job_count);
    const double so_far = (double)(is_weighed ? report->done_cost_ms : report->done_count);
    const double elapsed_ns = (double)(units_now_ns() - report->begun_ns);
    const uint64_t left_ns = so_far > 0 && all >= so_far ? (uint64_t)(elapsed_ns * (all - so_far) / so_far) : 0;
    if (report->job_count == 0)
        return;
    (void)snprintf(line, sizeof(line), "%" PRIu64 " of %" PRIu64 " requests%s%s%s", report->done_count,
                   report->job_count, left_ns != 0 ? ", about " : "", left_ns != 0 ? units_duration(left_ns, left) : "",
                   left_ns != 0 ? " left" : "");
    progress_say(&report->progress, line);
}

bool report_is_good(const struct report *report)
{
    uint64_t good_count = 0;
    for (size_t i = 0; i < GOOD_OUTCOMES; ++i)
        good_count += report->counts[i];
    if (report->kind == REPORT_WATCH)
        return true;
    return good_count == report->job_count && report->plan->bad_count == 0 &&
           (report->counts[WITHOUT_DEVICE] == 0 || report->kind == REPORT_STALE);
}

void report_finish(struct report *report, bool is_interrupted)
{
    static const char *const patterns[] = {
        [REPORT_BUILD] = "[interrupted?interrupted: ]{built} built, [pulled?{pulled} pulled, ]{present} present",
        [REPORT_STALE] = "[interrupted?interrupted: ]{built} rebuilt, [pulled?{pulled} pulled, ]{present} up to date",
        [REPORT_CHECK] = "[interrupted?interrupted: ]{present} present",
        [REPORT_PULL] = "[interrupted?interrupted: ]{pulled} pulled, {present} present",
        [REPORT_WATCH] = "{built} built, {present} present, {busy} compiled elsewhere"};
    cJSON *json = cJSON_CreateObject();
    progress_fini(&report->progress);
    (void)cJSON_AddItemToObject(json, "devices", report->devices != NULL ? report->devices : cJSON_CreateArray());
    json_add_u64(json, "jobs", report->job_count);
    for (size_t i = 0; i < REPORT_OUTCOMES; ++i)
        json_add_u64(json, outcomes[i].name, report->counts[i]);
    json_add_u64(json, "refused", report->plan->bad_count);
    if (report->kind == REPORT_STALE)
        json_add_u64(json, "without_request", report->plan->unknown_count);
    json_add_u64(json, "build_time_ns", report->build_ns);
    json_add_u64(json, "elapsed_ns", units_now_ns() - report->begun_ns);
    (void)cJSON_AddBoolToObject(json, "interrupted", is_interrupted);
    (void)cJSON_AddItemToObject(json, "problems", report->problems);
    if (report->is_json) {
        json_print(json);
        return;
    }
    output_put(stdout, patterns[report->kind], json);
    for (size_t i = GOOD_OUTCOMES; i < REPORT_OUTCOMES; ++i) {
        if (report->counts[i] != 0)
            (void)printf(", %" PRIu64 " %s", report->counts[i], outcomes[i].words);
    }
    output_put(stdout,
               "[refused?, {refused} refused]"
               "[without_request?, {without_request} results without a request]"
               " ({elapsed_ns:duration})\n",
               json);
    cJSON_Delete(json);
}

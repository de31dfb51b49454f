/*
 * report.c - counts results, and prints the progress line and the summary; see report.h.
 */
#include "cli/build/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/base/output.h"
#include "cli/base/units.h"

static const struct {
    const char *name; /* in JSON */
    const char *words;
} outcomes[OUTCOME_COUNT] = {[OUTCOME_BUILT] = {"built", "built"},
                             [OUTCOME_PULLED] = {"pulled", "pulled"},
                             [OUTCOME_PRESENT] = {"present", "present"},
                             [OUTCOME_FAILED] = {"failed", "failed"},
                             [OUTCOME_UNSTORED] = {"not_stored", "not stored"},
                             [OUTCOME_MISSING] = {"missing", "missing on the server"},
                             [OUTCOME_CRASHED] = {"crashed", "crashed the worker"},
                             [OUTCOME_TIMED_OUT] = {"timed_out", "ran out of time"},
                             [OUTCOME_TOO_LARGE] = {"too_large", "ran out of memory"}};

void report_init(struct report *report, const struct plan *plan, bool is_json, enum report_kind kind)
{
    *report = (struct report){.plan = plan, .is_json = is_json, .kind = kind, .begun_ns = units_now_ns()};
    progress_init(&report->progress, kind == REPORT_PULL ? "pulling" : "building");
    if (is_json) {
        report->problems = cJSON_CreateArray();
        report->devices = cJSON_CreateArray();
    }
}

/* device: NULL if there is none. `words` is the outcome for people. */
static void tell_build_problem(struct report *report, const struct plan_request *request, const char *device,
                               const char *outcome, const char *words, const char *message)
{
    cJSON *problem = cJSON_CreateObject();
    json_add_text(problem, "key", request->key);
    json_add_text(problem, "name", request->kept.name);
    json_add_text(problem, "device", device);
    json_add_text(problem, "outcome", report->is_json ? outcome : words);
    json_add_text(problem, "message", message);
    json_add_text(problem, "namespace", report->plan->name_spaces[request->name_space]);
    if (report->is_json) {
        (void)cJSON_AddItemToArray(report->problems, problem);
        return;
    }
    progress_fini(&report->progress);
    output_print(problem, false,
                 "[namespace?{namespace}: ]{key:short} {name}[device?[name? ]for {device}]: {outcome}: {message}\n");
    (void)fflush(stdout);
}

void report_leave_out(struct report *report, const struct plan_request *request)
{
    ++report->without_device_count;
    if (report->kind != REPORT_STALE)
        tell_build_problem(report, request, NULL, "without_device", "not built",
                           "this machine has no device for its backend");
}

void report_device(struct report *report, const char *text)
{
    if (report->is_json)
        (void)cJSON_AddItemToArray(report->devices, cJSON_CreateString(text));
}

void report_begin(struct report *report, uint64_t job_count, uint64_t cost_ms)
{
    report->job_count = job_count;
    report->cost_ms = cost_ms;
    report->begun_ns = units_now_ns();
}

void report_result(struct report *report, const struct plan_request *request, const char *device,
                   const struct message *result)
{
    ++report->counts[result->outcome];
    report->done_cost_ms += request->kept.build_time_ms;
    report->build_ns += result->outcome == OUTCOME_BUILT ? result->build_ns : 0;
    if (result->outcome > OUTCOME_PRESENT)
        tell_build_problem(report, request, device, outcomes[result->outcome].name, outcomes[result->outcome].words,
                           result->text);
}

static uint64_t count_done(const struct report *report)
{
    uint64_t done = 0;
    for (size_t i = 0; i < OUTCOME_COUNT; ++i)
        done += report->counts[i];
    return done;
}

/* Estimates the remaining time from the time so far. Returns 0 if it is unknown. If the requests have build times, each
 * is weighted by its build time. */
static uint64_t estimate_ns(const struct report *report, uint64_t done)
{
    const bool is_weighed = report->done_cost_ms != 0;
    const double all = (double)(is_weighed ? report->cost_ms : report->job_count);
    const double so_far = (double)(is_weighed ? report->done_cost_ms : done);
    const double elapsed_ns = (double)(units_now_ns() - report->begun_ns);
    return so_far > 0 && all >= so_far ? (uint64_t)(elapsed_ns * (all - so_far) / so_far) : 0;
}

void report_tick(struct report *report)
{
    char line[128];
    char left[UNITS_TEXT_SIZE];
    const uint64_t done = count_done(report);
    const uint64_t left_ns = estimate_ns(report, done);
    if (report->job_count == 0)
        return;
    (void)snprintf(line, sizeof(line), "%" PRIu64 " of %" PRIu64 " requests%s%s%s", done, report->job_count,
                   left_ns != 0 ? ", about " : "", left_ns != 0 ? units_duration(left_ns, left) : "",
                   left_ns != 0 ? " left" : "");
    progress_say(&report->progress, line);
}

bool report_is_good(const struct report *report)
{
    const uint64_t done =
        report->counts[OUTCOME_BUILT] + report->counts[OUTCOME_PULLED] + report->counts[OUTCOME_PRESENT];
    return done == report->job_count && report->plan->bad_count == 0 &&
           (report->without_device_count == 0 || report->kind == REPORT_STALE);
}

void report_finish(struct report *report, bool is_interrupted, const uint64_t *bundled_count)
{
    static const char *const patterns[] = {
        [REPORT_BUILD] = "[interrupted?interrupted: ]{built} built, [pulled?{pulled} pulled, ]{present} present",
        [REPORT_STALE] = "[interrupted?interrupted: ]{built} rebuilt, [pulled?{pulled} pulled, ]{present} up to date",
        [REPORT_PULL] = "[interrupted?interrupted: ]{pulled} pulled, {present} present"};
    cJSON *json = cJSON_CreateObject();
    progress_fini(&report->progress);
    if (report->is_json)
        (void)cJSON_AddItemToObject(json, "devices", report->devices);
    json_add_u64(json, "jobs", report->job_count);
    for (size_t i = 0; i < OUTCOME_COUNT; ++i)
        json_add_u64(json, outcomes[i].name, report->counts[i]);
    json_add_u64(json, "refused", report->plan->bad_count);
    json_add_u64(json, "without_device", report->without_device_count);
    if (report->kind == REPORT_STALE)
        json_add_u64(json, "without_request", report->plan->unknown_count);
    json_add_u64(json, "build_time_ns", report->build_ns);
    json_add_u64(json, "elapsed_ns", units_now_ns() - report->begun_ns);
    (void)cJSON_AddBoolToObject(json, "interrupted", is_interrupted);
    if (bundled_count != NULL)
        json_add_u64(json, "bundled", *bundled_count);
    if (report->is_json) {
        (void)cJSON_AddItemToObject(json, "problems", report->problems);
        json_print(json);
        return;
    }
    output_put(stdout, patterns[report->kind], json);
    for (size_t i = OUTCOME_FAILED; i < OUTCOME_COUNT; ++i) {
        if (report->counts[i] != 0)
            (void)printf(", %" PRIu64 " %s", report->counts[i], outcomes[i].words);
    }
    output_put(stdout,
               "[refused?, {refused} refused][without_device?, {without_device} without a device]"
               "[without_request?, {without_request} results without a request]"
               "[bundled?, {bundled} in the bundle] ({elapsed_ns:duration})\n",
               json);
    cJSON_Delete(json);
}

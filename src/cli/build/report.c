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
                             [OUTCOME_PRESENT] = {"present", "present"},
                             [OUTCOME_FAILED] = {"failed", "failed"},
                             [OUTCOME_UNSTORED] = {"not_stored", "not stored"},
                             [OUTCOME_MISSING] = {"missing", "missing on the server"},
                             [OUTCOME_CRASHED] = {"crashed", "crashed the worker"},
                             [OUTCOME_TIMED_OUT] = {"timed_out", "ran out of time"},
                             [OUTCOME_TOO_LARGE] = {"too_large", "ran out of memory"}};

void report_init(struct report *report, bool is_json, enum report_kind kind)
{
    *report =
        (struct report){.is_json = is_json, .kind = kind, .is_stale = kind == REPORT_STALE, .begun_ns = units_now_ns()};
    progress_init(&report->progress, kind == REPORT_PULL ? "pulling" : "building");
    if (is_json) {
        report->problems = cJSON_CreateArray();
        report->devices = cJSON_CreateArray();
    }
}

void report_name_space(struct report *report, const char *name_space, uint64_t unrecorded_count, uint64_t unknown_count)
{
    report->name_space = name_space;
    report->unrecorded_count += unrecorded_count;
    report->unknown_count += unknown_count;
}

/* device: NULL if there is none. `words` is the outcome for people. */
static void tell_build_problem(struct report *report, const ingot_recipe_program_t *facts, const char *device,
                               const char *outcome, const char *words, const char *message)
{
    char key[PLAN_KEY_TEXT_SIZE];
    cJSON *problem = cJSON_CreateObject();
    json_add_text(problem, "key", plan_key_text(facts->key, key));
    json_add_text(problem, "name", facts->name);
    json_add_text(problem, "device", device);
    json_add_text(problem, "outcome", report->is_json ? outcome : words);
    json_add_text(problem, "message", message);
    if (report->name_space != NULL)
        json_add_text(problem, "namespace", report->name_space);
    if (report->is_json) {
        (void)cJSON_AddItemToArray(report->problems, problem);
        return;
    }
    progress_fini(&report->progress);
    output_print(problem, false,
                 "[namespace?{namespace}: ]{key:short} {name}[device?[name? ]for {device}]: {outcome}: {message}\n");
    (void)fflush(stdout);
}

void report_leave_out(struct report *report, const ingot_recipe_program_t *facts, bool is_buildable)
{
    if (is_buildable) {
        ++report->without_device_count;
        if (report->is_stale)
            return;
        tell_build_problem(report, facts, NULL, "without_device", "not built",
                           "this machine has no device for its backend");
    } else {
        ++report->unrecorded_count;
        tell_build_problem(report, facts, NULL, "not_recordable", "cannot be built from a recipe", facts->reason);
    }
}

void report_device(struct report *report, const char *text)
{
    const cJSON *known;
    if (!report->is_json)
        return;
    cJSON_ArrayForEach(known, report->devices)
    {
        if (report->is_stale && strcmp(known->valuestring, text) == 0)
            return; /* already listed for another namespace */
    }
    (void)cJSON_AddItemToArray(report->devices, cJSON_CreateString(text));
}

void report_begin(struct report *report, uint64_t job_count, uint64_t cost_ns)
{
    report->job_count += job_count;
    report->cost_ns += cost_ns;
    if (!report->is_stale) /* with is_stale, this is called for each namespace */
        report->begun_ns = units_now_ns();
}

void report_result(struct report *report, const ingot_recipe_program_t *facts, const char *device,
                   const struct message *result)
{
    ++report->counts[result->outcome];
    report->done_cost_ns += facts->build_time_ns;
    report->build_ns += result->outcome == OUTCOME_BUILT ? result->build_ns : 0;
    if (result->outcome != OUTCOME_BUILT && result->outcome != OUTCOME_PRESENT)
        tell_build_problem(report, facts, device, outcomes[result->outcome].name, outcomes[result->outcome].words,
                           result->text);
}

static uint64_t count_done(const struct report *report)
{
    uint64_t done = 0;
    for (size_t i = 0; i < OUTCOME_COUNT; ++i)
        done += report->counts[i];
    return done;
}

/* Estimates the remaining time from the time so far. Returns 0 if it is unknown. If the recipes have build times, each
 * program is weighted by its build time. */
static uint64_t estimate_ns(const struct report *report, uint64_t done)
{
    const bool is_weighed = report->done_cost_ns != 0;
    const double all = (double)(is_weighed ? report->cost_ns : report->job_count);
    const double so_far = (double)(is_weighed ? report->done_cost_ns : done);
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
    (void)snprintf(line, sizeof(line), "%" PRIu64 " of %" PRIu64 " programs%s%s%s", done, report->job_count,
                   left_ns != 0 ? ", about " : "", left_ns != 0 ? units_duration(left_ns, left) : "",
                   left_ns != 0 ? " left" : "");
    progress_say(&report->progress, line);
}

bool report_is_good(const struct report *report)
{
    return report->counts[OUTCOME_BUILT] + report->counts[OUTCOME_PRESENT] == report->job_count &&
           (report->without_device_count == 0 || report->is_stale);
}

static void print_build_report(struct report *report, bool is_interrupted, const uint64_t *bundled_count)
{
    static const char *const patterns[] = {[REPORT_BUILD] = "{built} built, {present} present",
                                           [REPORT_STALE] = "{built} rebuilt, {present} up to date",
                                           [REPORT_PULL] = "{pulled} pulled, {present} present"};
    cJSON *json = cJSON_CreateObject();
    if (report->is_json)
        (void)cJSON_AddItemToObject(json, "devices", report->devices);
    json_add_u64(json, "jobs", report->job_count);
    for (size_t i = 0; i < OUTCOME_COUNT; ++i)
        json_add_u64(json, i == OUTCOME_BUILT && report->kind == REPORT_PULL ? "pulled" : outcomes[i].name,
                     report->counts[i]);
    json_add_u64(json, "not_recordable", report->unrecorded_count);
    json_add_u64(json, "without_device", report->without_device_count);
    if (report->is_stale)
        json_add_u64(json, "without_recipe", report->unknown_count);
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
    output_put(stdout, "[interrupted?interrupted: ]", json);
    output_put(stdout, patterns[report->kind], json);
    for (size_t i = OUTCOME_FAILED; i < OUTCOME_COUNT; ++i) {
        if (report->counts[i] != 0)
            (void)printf(", %" PRIu64 " %s", report->counts[i], outcomes[i].words);
    }
    output_put(stdout,
               "[not_recordable?, {not_recordable} not recordable]"
               "[without_device?, {without_device} without a device]"
               "[without_recipe?, {without_recipe} entries without a recipe]",
               json);
    output_put(stdout,
               bundled_count != NULL ? ", {bundled} in the bundle ({elapsed_ns:duration})\n"
                                     : " ({elapsed_ns:duration})\n",
               json);
    cJSON_Delete(json);
}

void report_finish(struct report *report, bool is_interrupted, const uint64_t *bundled_count)
{
    progress_fini(&report->progress);
    print_build_report(report, is_interrupted, bundled_count);
}

/*
 * check.c - `ingot remote check`: finds out what is wrong with a server that machines share, and how fast it is.
 */
#include <ingot/private/remote.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/commands/all.h"
#include "cli/commands/remote/server.h"

struct checking {
    struct common_options common;
    bool is_read_only;
    const char *url; /* NULL: from the environment */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_TEXT, "URL", offsetof(struct checking, url), .help = "The server. Default: INGOT_PERSIST_REMOTE"},
    {"read-only", 'r', VALUE_NONE, NULL, offsetof(struct checking, is_read_only), .help = "Store and remove nothing"},
    {.help = NULL},
};

/* Returns the name of a step of the check. */
static const char *name_of_step(ingot_remote_step_t step)
{
    switch (step) {
    case INGOT_REMOTE_STEP_OPEN: return "reading the settings";
    case INGOT_REMOTE_STEP_CONNECT: return "connecting";
    case INGOT_REMOTE_STEP_WRITE: return "storing";
    case INGOT_REMOTE_STEP_READ: return "loading";
    case INGOT_REMOTE_STEP_REMOVE: return "removing";
    case INGOT_REMOTE_STEP_DONE: break;
    }
    return "done";
}

#define TIMES                                                                                                          \
    "[connect_ns?connecting, first answer     {connect_ns:duration}\n]"                                                \
    "[round_trip_ns?round trip                   {round_trip_ns:duration}\n]"                                          \
    "[write_ns?storing 64 KiB               {write_ns:duration}\n]"                                                    \
    "[read_ns?[write_ns?loading 64 KiB      ][write_ns!asking for a program]         {read_ns:duration}\n]"

static void print_check(const struct checking *checking, ingot_status_t status, const ingot_remote_report_t *report)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "status", ingot_status_name(status));
    json_add_text(json, "step", name_of_step(report->step));
    json_add_text(json, "reason", report->reason);
    json_add_u64(json, "connect_ns", report->connect_ns);
    json_add_u64(json, "round_trip_ns", report->round_trip_ns);
    json_add_u64(json, "write_ns", report->write_ns);
    json_add_u64(json, "read_ns", report->read_ns);
    output_print(json, checking->common.is_json,
                 status == INGOT_SUCCESS ? TIMES "the server works\n" : TIMES "{step} failed: {reason}\n");
}

static int run_remote_check(void *values)
{
    const struct checking *checking = values;
    struct server_memory memory;
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_remote_report_t report = INGOT_REMOTE_REPORT_INIT;
    const int code = server_read_info(&info, checking->url, &memory);
    if (code != EXIT_DONE)
        return code;
    if (checking->is_read_only)
        info.flags |= (uint32_t)INGOT_REMOTE_READ_ONLY;
    const ingot_status_t status = ingot_remote_check(&info, &report);
    print_check(checking, status, &report);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    return report.step == INGOT_REMOTE_STEP_OPEN ? EXIT_USAGE : EXIT_FINDING;
}

const struct command command_remote_check = {
    .name = "remote check",
    .group = "Share",
    .summary = "check a server that machines share",
    .about =
        "Checks a server that machines share: connects, stores, loads, compares and removes 64 KiB, and prints how "
        "long each step took, or what is wrong. It does not need a store. The exit status is 1 if the server does "
        "not work.",
    .options = options,
    .size = sizeof(struct checking),
    .run = run_remote_check,
};

/*
 * check.c - `ingot remote check`: finds out what is wrong with a server that machines share, and how fast it is.
 */
#include <ingot/remote.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/units.h"
#include "cli/command.h"
#include "cli/commands/remote/server.h"

enum { READ_ONLY_KEY = 'r' };

struct checking {
    struct common_options common;
    bool has_action;
    bool is_read_only;
    const char *url; /* NULL: from the environment */
};

static const struct argp_option check_options[] = {
    {"read-only", READ_ONLY_KEY, NULL, 0, "Store and remove nothing", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static void take_argument(struct checking *checking, char *value, struct argp_state *state)
{
    if (!checking->has_action && strcmp(value, "check") != 0)
        argp_error(state, "\"%s\" is not an action: use check", value);
    else if (!checking->has_action)
        checking->has_action = true;
    else if (checking->url == NULL)
        checking->url = value;
    else
        argp_error(state, "name one URL only");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct checking *checking = state->input;
    switch (key) {
    case READ_ONLY_KEY: checking->is_read_only = true; return 0;
    case ARGP_KEY_ARG: take_argument(checking, value, state); return 0;
    case ARGP_KEY_END:
        if (!checking->has_action)
            argp_error(state, "name an action: check");
        return 0;
    default: return options_parse_other(key, state);
    }
}

/* Returns the name of a step of the check. */
static const char *name_of(ingot_remote_step_t step)
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

static void print_time(const char *what, uint64_t time_ns)
{
    char text[UNITS_TEXT_SIZE];
    if (time_ns != 0)
        (void)printf("%-28s %s\n", what, units_duration(time_ns, text));
}

static void print_text(ingot_status_t status, const ingot_remote_report_t *report)
{
    print_time("connecting, first answer", report->connect_ns);
    print_time("round trip", report->round_trip_ns);
    print_time("storing 64 KiB", report->write_ns);
    print_time(report->write_ns != 0 ? "loading 64 KiB" : "asking for a program", report->read_ns);
    if (status == INGOT_SUCCESS)
        (void)puts("the server works");
    else
        (void)printf("%s failed: %s\n", name_of(report->step), report->reason);
}

static void print_json(ingot_status_t status, const ingot_remote_report_t *report)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "status", ingot_status_name(status));
    json_add_text(json, "step", name_of(report->step));
    json_add_text(json, "reason", report->reason);
    json_add_u64(json, "connect_ns", report->connect_ns);
    json_add_u64(json, "round_trip_ns", report->round_trip_ns);
    json_add_u64(json, "write_ns", report->write_ns);
    json_add_u64(json, "read_ns", report->read_ns);
    json_print(json);
}

static int check(const struct checking *checking)
{
    char text[SERVER_TEXT_CAPACITY];
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_remote_report_t report = INGOT_REMOTE_REPORT_INIT;
    const int code = server_read_info(&info, &checking->common, checking->url, text);
    if (code != EXIT_DONE)
        return code;
    if (checking->is_read_only)
        info.flags |= (uint32_t)INGOT_REMOTE_READ_ONLY;
    const ingot_status_t status = ingot_remote_check(&info, &report);
    if (checking->common.is_json)
        print_json(status, &report);
    else
        print_text(status, &report);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    return report.step == INGOT_REMOTE_STEP_OPEN ? EXIT_USAGE : EXIT_FINDING;
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {check_options,
                                     parse_option,
                                     "check [URL]",
                                     "Checks a server that machines share: connects, stores, loads and removes 64 KiB, "
                                     "and prints how long each took. Default URL: INGOT_PERSIST_REMOTE.",
                                     options_common,
                                     NULL,
                                     NULL};
    struct checking checking = {.url = NULL};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &checking);
    return check(&checking);
}

const struct command command_remote = {"remote", "check a server that machines share", run};

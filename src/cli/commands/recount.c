/*
 * recount.c - `ingot recount`: counts a store and corrects its recorded total.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/units.h"
#include "cli/command.h"
#include "cli/store/store.h"

struct recounting {
    struct common_options common;
    bool is_dry;
};

static const struct argp_option recount_options[] = {
    {"dry-run", 'y', NULL, 0, "Count only; exit status 1 if the recorded total is wrong", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct recounting *recounting = state->input;
    (void)value;
    if (key != 'y')
        return options_parse_other(key, state);
    recounting->is_dry = true;
    return 0;
}

static bool is_right(const ingot_persist_count_t *count)
{
    return count->is_recorded != 0 && count->recorded_bytes == count->counted_bytes;
}

static void print_text(const ingot_persist_count_t *count)
{
    char size[UNITS_TEXT_SIZE];
    if (interrupt_seen()) {
        (void)puts("interrupted");
        return;
    }
    (void)printf("%" PRIu64 " entries, %s (%" PRIu64 " bytes); ", count->entry_count,
                 units_bytes(count->counted_bytes, size), count->counted_bytes);
    if (count->is_recorded == 0)
        (void)puts("nothing was recorded");
    else if (is_right(count))
        (void)puts("recorded without difference");
    else
        (void)printf("%" PRIu64 " bytes were recorded\n", count->recorded_bytes);
}

static void print_json(const ingot_persist_count_t *count, bool is_written)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", count->entry_count);
    json_add_u64(json, "bytes", count->counted_bytes);
    if (count->is_recorded != 0)
        json_add_u64(json, "recorded_bytes", count->recorded_bytes);
    else
        (void)cJSON_AddNullToObject(json, "recorded_bytes");
    (void)cJSON_AddBoolToObject(json, "was_right", is_right(count));
    (void)cJSON_AddBoolToObject(json, "written", is_written);
    (void)cJSON_AddBoolToObject(json, "interrupted", interrupt_seen());
    json_print(json);
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {recount_options,
                                     parse_option,
                                     NULL,
                                     "Counts the whole store with all namespaces, and corrects its recorded total.",
                                     options_common,
                                     NULL,
                                     NULL};
    struct recounting recounting = {.is_dry = false};
    ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
    ingot_storage_t storage = NULL;

    (void)argp_parse(&argp, argc, argv, 0, NULL, &recounting);
    int code = store_open(&storage, &recounting.common, recounting.is_dry ? STORE_READ : STORE_WRITE, NULL);
    if (code != EXIT_DONE)
        return code;
    struct progress progress;
    interrupt_catch();
    progress_init(&progress, "counting");
    count.on_progress = progress_follow_upkeep;
    count.user = &progress;
    const ingot_status_t status = ingot_persist_recount(storage, &count);
    progress_fini(&progress);
    if (status != INGOT_SUCCESS) {
        code = store_failed("counting", status);
    } else {
        if (recounting.common.is_json)
            print_json(&count, !recounting.is_dry && !interrupt_seen());
        else
            print_text(&count);
        code = interrupt_seen() ? EXIT_INTERRUPTED : recounting.is_dry && !is_right(&count) ? EXIT_FINDING : EXIT_DONE;
    }
    ingot_storage_release(storage);
    return code;
}

const struct command command_recount = {"recount", "count the store and correct its recorded total", run};

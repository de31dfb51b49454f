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
#include "cli/commands/all.h"
#include "cli/store/store.h"

struct recounting {
    struct common_options common;
    bool is_dry;
};

static const struct command_option options[] = {
    {"dry-run", 'y', VALUE_NONE, NULL, offsetof(struct recounting, is_dry),
     .help = "Count only; exit status 1 if the recorded total is wrong"},
    {.help = NULL},
};

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

static int run(void *values)
{
    const struct recounting *recounting = values;
    ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
    ingot_storage_t storage = NULL;

    int code = store_open(&storage, &recounting->common, recounting->is_dry ? STORE_READ : STORE_WRITE, NULL);
    if (code != EXIT_DONE)
        return code;
    struct progress progress;
    interrupt_catch();
    progress_init(&progress, "counting");
    count.on_progress = progress_follow_upkeep;
    count.user = &progress;
    const ingot_status_t status = ingot_persist_recount(storage, &count);
    progress_fini(&progress);
    if (status != INGOT_SUCCESS && !interrupt_seen()) {
        code = store_failed("counting", status);
    } else {
        if (recounting->common.is_json)
            print_json(&count, !recounting->is_dry && !interrupt_seen());
        else
            print_text(&count);
        code = interrupt_seen() ? EXIT_INTERRUPTED : recounting->is_dry && !is_right(&count) ? EXIT_FINDING : EXIT_DONE;
    }
    ingot_storage_release(storage);
    return code;
}

const struct command command_recount = {
    .name = "recount",
    .group = "Keep a store in order",
    .summary = "count the store and correct its recorded total",
    .about = "Counts the whole store with all namespaces, and corrects its recorded total.",
    .options = options,
    .size = sizeof(struct recounting),
    .run = run,
};

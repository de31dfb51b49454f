/*
 * recount.c - `ingot recount`: counts a store and corrects its recorded total.
 */
#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
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

static void print_recount(const struct recounting *recounting, const ingot_persist_count_t *count)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", count->entry_count);
    json_add_u64(json, "bytes", count->counted_bytes);
    if (count->is_recorded != 0)
        json_add_u64(json, "recorded_bytes", count->recorded_bytes);
    else
        (void)cJSON_AddNullToObject(json, "recorded_bytes");
    (void)cJSON_AddBoolToObject(json, "was_right", is_right(count));
    (void)cJSON_AddBoolToObject(json, "written", !recounting->is_dry && !interrupt_seen());
    (void)cJSON_AddBoolToObject(json, "interrupted", interrupt_seen());
    output_print(json, recounting->common.is_json,
                 interrupt_seen()          ? "interrupted\n"
                 : count->is_recorded == 0 ? "{entries} entries, {bytes:size} ({bytes} bytes); nothing was recorded\n"
                                           : "{entries} entries, {bytes:size} ({bytes} bytes); "
                                             "[was_right?recorded without difference]"
                                             "[was_right!{recorded_bytes} bytes were recorded]\n");
}

/* A store_user_t. */
static int recount_store(ingot_storage_t storage, void *values)
{
    const struct recounting *recounting = values;
    ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
    struct progress progress;
    progress_init(&progress, "counting");
    count.on_progress = progress_follow_upkeep;
    count.user = &progress;
    const ingot_status_t status = ingot_persist_recount(storage, &count);
    progress_fini(&progress);
    if (status != INGOT_SUCCESS && !interrupt_seen())
        return store_failed("counting", status);
    print_recount(recounting, &count);
    return interrupt_seen() ? EXIT_INTERRUPTED : recounting->is_dry && !is_right(&count) ? EXIT_FINDING : EXIT_DONE;
}

static int run_recount(void *values)
{
    struct recounting *recounting = values;
    return store_use(&recounting->common, recounting->is_dry ? STORE_READ : STORE_WRITE, recount_store, recounting);
}

const struct command command_recount = {
    .name = "recount",
    .group = "Keep a store in order",
    .summary = "count the store and correct its recorded total",
    .about = "Counts the whole store with all namespaces, and corrects its recorded total.",
    .options = options,
    .size = sizeof(struct recounting),
    .run = run_recount,
};

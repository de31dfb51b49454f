/*
 * evict.c - `ingot evict`: removes entries, oldest first or all.
 */
#include <stdlib.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/base/units.h"
#include "cli/commands/all.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"
#include "cli/usage/command.h"
#include "util/nanoseconds.h"

/* An entry that may be removed. */
struct victim {
    struct entry entry;
    uint64_t time_ns; /* of its creation or last use; the earliest is removed first */
};

struct evicting {
    struct common_options common;
    ingot_persist_limits_t limits;
    uint64_t max_size; /* the limits: 0 if not given */
    uint64_t max_entries;
    uint64_t max_age_ns;
    unsigned order;   /* an enum store_order; 0 if not given */
    const char *kind; /* evict only entries of this kind; NULL: all */
    bool is_all;
    bool is_old;
    ingot_storage_t storage;
    struct victim *victims; /* the entries of the kind */
    size_t victim_count;
};

static const struct command_option options[] = {
    {"max-size", 's', VALUE_SIZE, "SIZE", offsetof(struct evicting, max_size), .words = "unlimited none",
     .help = "Evict until at most SIZE remains"},
    {"max-entries", 'e', VALUE_COUNT, "COUNT", offsetof(struct evicting, max_entries), .words = "unlimited none",
     .help = "Evict until at most COUNT entries remain"},
    {"max-age", 'a', VALUE_TIME, "AGE", offsetof(struct evicting, max_age_ns), .words = "unlimited none",
     .help = "Evict until no entry is older than AGE"},
    {"all", 'A', VALUE_NONE, NULL, offsetof(struct evicting, is_all),
     .help = "Evict all entries, or those of --namespace"},
    {"old", 'O', VALUE_NONE, NULL, offsetof(struct evicting, is_old),
     .help =
         "Remove what an earlier version of Ingot has left beside the store, in a format that is not read any more"},
    {"kind", 'k', VALUE_TEXT, "KIND", offsetof(struct evicting, kind),
     .help = "Evict only entries of this kind, as in \"ingot ls\"; the limits hold for these entries"},
    {"order", 'o', VALUE_WORD, "ORDER", offsetof(struct evicting, order), .words = "fifo lru",
     .help = "Evict the oldest created first (fifo) or the least recently used first (lru). Default: "
             "INGOT_PERSIST_EVICTION"},
    {.help = NULL},
};

static void print_removed(const struct evicting *evicting, ingot_status_t status, uint64_t entry_count, uint64_t bytes)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "status", ingot_status_name(status));
    json_add_u64(json, "removed_entries", entry_count);
    json_add_u64(json, "removed_bytes", bytes);
    (void)cJSON_AddBoolToObject(json, "interrupted", interrupt_seen());
    output_print(json, evicting->common.is_json,
                 "[interrupted?interrupted: ]{removed_entries} entries removed, {removed_bytes:size}\n");
}

/* ---- entries of one kind ---- */

static int note_of_kind(const ingot_persist_entry_t *facts, void *user)
{
    struct evicting *evicting = user;
    if (facts->status != INGOT_SUCCESS || !id_is_of_kind(facts->id_size, facts->id, evicting->kind))
        return 1;
    evicting->victims = memory_grow(evicting->victims, evicting->victim_count, sizeof(*evicting->victims));
    struct victim *victim = &evicting->victims[evicting->victim_count++];
    victim->time_ns = evicting->order == STORE_LRU ? facts->last_use_ns : facts->created_ns;
    entry_copy(&victim->entry, facts);
    return 1;
}

/* For qsort. */
static int by_time(const void *a, const void *b)
{
    const uint64_t x = ((const struct victim *)a)->time_ns;
    const uint64_t y = ((const struct victim *)b)->time_ns;
    return x < y ? -1 : x > y;
}

static uint64_t limit_of(uint64_t given)
{
    return given == QUANTITY_NONE ? 0 : given == 0 ? UINT64_MAX : given;
}

/* Removes the first entries in the order until the rest is within the limits. */
static ingot_status_t evict_entries_of_kind(const struct evicting *evicting, uint64_t *count, uint64_t *bytes)
{
    const uint64_t now_ns = units_now_ns();
    uint64_t left_bytes = 0;
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < evicting->victim_count; ++i)
        left_bytes += evicting->victims[i].entry.facts.bytes;
    if (evicting->victim_count > 1)
        qsort(evicting->victims, evicting->victim_count, sizeof(*evicting->victims), by_time);
    for (size_t i = 0; i < evicting->victim_count && status == INGOT_SUCCESS && !interrupt_seen(); ++i) {
        const struct victim *victim = &evicting->victims[i];
        const ingot_persist_entry_t *facts = &victim->entry.facts;
        const bool is_old = now_ns > victim->time_ns && now_ns - victim->time_ns > limit_of(evicting->max_age_ns);
        if (!is_old && left_bytes <= limit_of(evicting->max_size) &&
            evicting->victim_count - i <= limit_of(evicting->max_entries))
            break;
        status = ingot_persist_remove_entry(evicting->storage, facts);
        *count += status == INGOT_SUCCESS;
        *bytes += status == INGOT_SUCCESS ? facts->bytes : 0;
        left_bytes -= facts->bytes;
        if (status == INGOT_NOT_FOUND)
            status = INGOT_SUCCESS; /* evicted in the meantime */
    }
    return status;
}

/* ---- all entries ---- */

static ingot_status_t evict_to_limits(struct evicting *evicting, uint64_t *count, uint64_t *bytes)
{
    struct progress progress;
    progress_init(&progress, "examining");
    evicting->limits.on_progress = progress_follow_upkeep;
    evicting->limits.user = &progress;
    ingot_status_t status = ingot_persist_evict(evicting->storage, &evicting->limits, count, bytes);
    if (status == INGOT_SUCCESS && evicting->is_all && !interrupt_seen())
        status = ingot_persist_clear(evicting->storage);
    progress_fini(&progress);
    return status == INGOT_BUSY && interrupt_seen() ? INGOT_SUCCESS : status;
}

/* ---- the commands ---- */

static int evict_entries(struct evicting *evicting)
{
    uint64_t count = 0;
    uint64_t bytes = 0;
    int code = store_open(&evicting->storage, &evicting->common, STORE_WRITE, &evicting->order);
    if (code != EXIT_DONE)
        return code;
    interrupt_catch();
    if (evicting->is_old) {
        const ingot_status_t status = ingot_persist_find_old(evicting->storage, 1, &count);
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "removed_old", count);
        if (status != INGOT_SUCCESS)
            code = store_failed("removing the earlier format", status);
        output_print(json, evicting->common.is_json,
                     "{removed_old} directories and files of an earlier format removed\n");
        ingot_storage_release(evicting->storage);
        return code;
    }
    if (evicting->kind != NULL)
        code = entry_visit_all(evicting->storage, note_of_kind, evicting);
    if (code == EXIT_DONE) {
        const ingot_status_t status = evicting->kind != NULL ? evict_entries_of_kind(evicting, &count, &bytes)
                                                             : evict_to_limits(evicting, &count, &bytes);
        ingot_persist_count_t total = INGOT_PERSIST_COUNT_INIT;
        code = interrupt_seen() ? EXIT_INTERRUPTED : EXIT_DONE;
        if (code == EXIT_DONE && status == INGOT_SUCCESS)
            (void)ingot_persist_recount(evicting->storage, &total); /* corrects the recorded total */
        if (status != INGOT_SUCCESS)
            code = store_failed("evicting", status);
        print_removed(evicting, status, count, bytes);
    }
    ingot_storage_release(evicting->storage);
    return code;
}

/* Returns a limit as ingot_persist_evict takes it. A limit that was not given does not limit anything, whatever the
 * environment says. */
static uint64_t limit_in(uint64_t given, uint64_t unit)
{
    if (given == 0 || given == QUANTITY_UNLIMITED)
        return INGOT_UNLIMITED;
    return given == QUANTITY_NONE ? INGOT_NONE : (given - 1) / unit + 1; /* rounded up: not 0 */
}

static int run_evict(void *values)
{
    struct evicting *evicting = values;
    const bool has_limit = evicting->max_size != 0 || evicting->max_entries != 0 || evicting->max_age_ns != 0;
    if (has_limit + evicting->is_all + evicting->is_old != 1)
        return command_refuse(&command_evict,
                              "give limits with --max-size, --max-entries or --max-age, or --all, or --old");
    if (evicting->is_all)
        evicting->max_entries = QUANTITY_NONE;
    evicting->limits = (ingot_persist_limits_t)INGOT_PERSIST_LIMITS_INIT;
    evicting->limits.max_bytes = limit_in(evicting->max_size, 1);
    evicting->limits.max_entries = limit_in(evicting->max_entries, 1);
    evicting->limits.max_age_ms = limit_in(evicting->max_age_ns, NS_PER_MS);
    return evict_entries(evicting);
}

const struct command command_evict = {
    .name = "evict",
    .group = "Keep a store in order",
    .summary = "remove entries down to limits in size, number or age, or all",
    .about = "Removes entries until the store is within all given limits, and corrects the store's recorded total. 0 "
             "stands for a limit that is not given.",
    .options = options,
    .size = sizeof(struct evicting),
    .run = run_evict,
};

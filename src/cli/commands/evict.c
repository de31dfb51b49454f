/*
 * evict.c - `ingot evict` and `ingot clear`: remove entries, oldest first or all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/units.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "cli/usage/parse.h"
#include "util/nanoseconds.h"

struct evicting {
    struct common_options common;
    ingot_persist_limits_t limits;
    uint64_t max_size; /* the limits: 0 if not given */
    uint64_t max_entries;
    uint64_t max_age_ns;
    unsigned order; /* 0 if not given; 1 for fifo, 2 for lru */
    bool is_to_clear;
};

static const struct command_option options[] = {
    {.name = "max-size",
     .letter = 's',
     .kind = VALUE_SIZE,
     .value = "SIZE",
     .words = "unlimited none",
     .at = offsetof(struct evicting, max_size),
     .help = "Evict until at most SIZE remains"},
    {.name = "max-entries",
     .letter = 'e',
     .kind = VALUE_COUNT,
     .value = "COUNT",
     .words = "unlimited none",
     .at = offsetof(struct evicting, max_entries),
     .help = "Evict until at most COUNT entries remain"},
    {.name = "max-age",
     .letter = 'a',
     .kind = VALUE_TIME,
     .value = "AGE",
     .words = "unlimited none",
     .at = offsetof(struct evicting, max_age_ns),
     .help = "Evict until no entry is older than AGE"},
    {.name = "order",
     .letter = 'o',
     .kind = VALUE_WORD,
     .value = "ORDER",
     .words = "fifo lru",
     .at = offsetof(struct evicting, order),
     .help = "Evict the oldest created first (fifo) or the least recently used first (lru). Default: "
             "INGOT_PERSIST_EVICTION"},
    {.help = NULL},
};

static void print(const struct evicting *evicting, ingot_status_t status, uint64_t entry_count, uint64_t bytes)
{
    char size[UNITS_TEXT_SIZE];
    if (evicting->common.is_json) {
        cJSON *json = cJSON_CreateObject();
        json_add_text(json, "status", ingot_status_name(status));
        json_add_u64(json, "removed_entries", entry_count);
        json_add_u64(json, "removed_bytes", bytes);
        (void)cJSON_AddBoolToObject(json, "interrupted", interrupt_seen());
        json_print(json);
    } else {
        (void)printf("%s%" PRIu64 " entries removed, %s\n", interrupt_seen() ? "interrupted: " : "", entry_count,
                     units_bytes(bytes, size));
    }
}

/* Returns the order of eviction, or NULL for the one that the environment sets. */
static const ingot_persist_eviction_t *order_of(const struct evicting *evicting)
{
    static const ingot_persist_eviction_t orders[] = {INGOT_PERSIST_EVICT_FIFO, INGOT_PERSIST_EVICT_LRU};
    return evicting->order != 0 ? &orders[evicting->order - 1] : NULL;
}

static int evict(struct evicting *evicting)
{
    uint64_t entry_count = 0;
    uint64_t bytes = 0;
    ingot_storage_t storage = NULL;
    struct progress progress;

    const int code = store_open(&storage, &evicting->common, STORE_WRITE, order_of(evicting));
    if (code != EXIT_DONE)
        return code;
    interrupt_catch();
    progress_init(&progress, "examining");
    evicting->limits.on_progress = progress_follow_upkeep;
    evicting->limits.user = &progress;
    ingot_status_t status = ingot_persist_evict(storage, &evicting->limits, &entry_count, &bytes);
    if (status == INGOT_SUCCESS && evicting->is_to_clear && !interrupt_seen())
        status = ingot_persist_clear(storage); /* also removes the recipes that the store keeps */
    progress_fini(&progress);
    int result = interrupt_seen() ? EXIT_INTERRUPTED : EXIT_DONE;
    if (status != INGOT_SUCCESS)
        result = store_failed("evicting", status);
    print(evicting, status, entry_count, bytes);
    ingot_storage_release(storage);
    return result;
}

/* Returns a limit as ingot_persist_evict takes it, which is 0 if nothing may remain. A limit that was not given does
 * not limit anything. */
static uint64_t limit_of(uint64_t given, uint64_t unit)
{
    if (given == 0 || given == QUANTITY_UNLIMITED)
        return UINT64_MAX;
    return given == QUANTITY_NONE ? 0 : (given - 1) / unit + 1; /* rounded up: not 0 */
}

static int run_evict(void *values)
{
    struct evicting *evicting = values;
    if (evicting->max_size == 0 && evicting->max_entries == 0 && evicting->max_age_ns == 0)
        return parse_refuse(&command_evict, "give --max-size, --max-entries or --max-age");
    evicting->limits = (ingot_persist_limits_t)INGOT_PERSIST_LIMITS_INIT;
    evicting->limits.max_bytes = limit_of(evicting->max_size, 1);
    evicting->limits.max_entries = limit_of(evicting->max_entries, 1);
    evicting->limits.max_age_seconds = limit_of(evicting->max_age_ns, NS_PER_SECOND);
    return evict(evicting);
}

static int run_clear(void *values)
{
    struct evicting *evicting = values;
    evicting->is_to_clear = true;
    evicting->limits = (ingot_persist_limits_t)INGOT_PERSIST_LIMITS_INIT;
    evicting->limits.max_bytes = 0;
    evicting->limits.max_entries = 0;
    return evict(evicting);
}

const struct command command_evict = {
    .name = "evict",
    .group = "Keep a store in order",
    .summary = "remove entries down to limits in size, number or age",
    .about = "Removes entries until the store is within all given limits. 0 stands for a limit that is not given.",
    .options = options,
    .size = sizeof(struct evicting),
    .run = run_evict,
};

const struct command command_clear = {
    .name = "clear",
    .group = "Keep a store in order",
    .summary = "remove all entries",
    .about = "Removes all entries, or those of --namespace. The counts that \"ingot stats\" shows are kept, and so is "
             "headers.memo.",
    .size = sizeof(struct evicting),
    .run = run_clear,
};

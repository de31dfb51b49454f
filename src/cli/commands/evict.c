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
#include "cli/command.h"
#include "cli/store/store.h"
#include "util/quantity.h"

struct evicting {
    struct common_options common;
    ingot_persist_limits_t limits;
    ingot_persist_eviction_t order;
    bool has_order;
    bool has_limit;
    bool is_to_clear;
};

static const struct argp_option evict_options[] = {
    {"max-size", 's', "SIZE", 0, "Evict until at most SIZE remains: bytes, with an optional K, M, G or T", 0},
    {"max-entries", 'e', "COUNT", 0, "Evict until at most COUNT entries remain", 0},
    {"max-age", 'a', "AGE", 0, "Evict until no entry is older than AGE: a number with s, m, h, d or w", 0},
    {"order", 'o', "ORDER", 0,
     "fifo: oldest created first; lru: least recently used first. Default: INGOT_PERSIST_EVICTION, or fifo", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static void parse_order(struct evicting *evicting, const char *value, struct argp_state *state)
{
    evicting->has_order = true;
    if (strcmp(value, "fifo") == 0)
        evicting->order = INGOT_PERSIST_EVICT_FIFO;
    else if (strcmp(value, "lru") == 0)
        evicting->order = INGOT_PERSIST_EVICT_LRU;
    else
        argp_error(state, "\"%s\" is not an order: use fifo or lru", value);
}

static void take_limit(struct evicting *evicting, bool is_parsed, const char *value, struct argp_state *state)
{
    evicting->has_limit = true;
    if (!is_parsed)
        argp_error(state, "\"%s\" is not a valid limit", value);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct evicting *evicting = state->input;
    ingot_persist_limits_t *limits = &evicting->limits;
    switch (key) {
    case 's': take_limit(evicting, quantity_read_size(value, &limits->max_bytes), value, state); return 0;
    case 'e': take_limit(evicting, quantity_read_count(value, &limits->max_entries), value, state); return 0;
    case 'a': take_limit(evicting, units_parse_age(value, &limits->max_age_seconds), value, state); return 0;
    case 'o': parse_order(evicting, value, state); return 0;
    case ARGP_KEY_END:
        if (!evicting->has_limit)
            argp_error(state, "give --max-size, --max-entries or --max-age");
        return 0;
    default: return options_parse_other(key, state);
    }
}

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

static int evict(struct evicting *evicting)
{
    uint64_t entry_count = 0;
    uint64_t bytes = 0;
    ingot_storage_t storage = NULL;
    struct progress progress;

    const ingot_persist_eviction_t *order = evicting->has_order ? &evicting->order : NULL;
    const int code = store_open(&storage, &evicting->common, STORE_WRITE, order);
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

static int run_evict(int argc, char **argv)
{
    static const struct argp argp = {
        evict_options,  parse_option, NULL, "Removes entries in order until the store is within the limits.",
        options_common, NULL,         NULL};
    struct evicting evicting = {.limits = INGOT_PERSIST_LIMITS_INIT};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &evicting);
    return evict(&evicting);
}

static int run_clear(int argc, char **argv)
{
    static const struct argp argp = {
        NULL, options_parse_none, NULL, "Removes all entries, or those of --namespace.", options_common, NULL, NULL};
    struct evicting evicting = {.limits = INGOT_PERSIST_LIMITS_INIT, .is_to_clear = true};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &evicting);
    evicting.limits.max_bytes = 0;
    evicting.limits.max_entries = 0;
    return evict(&evicting);
}

const struct command command_evict = {"evict", "remove entries down to limits in size, number or age", run_evict};
const struct command command_clear = {"clear", "remove all entries", run_clear};

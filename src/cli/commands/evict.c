/*
 * evict.c - `ingot evict`: removes entries, oldest first or all.
 */
#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "util/nanoseconds.h"

struct evicting {
    struct common_options common;
    uint64_t max_size; /* the limits: 0 if not given */
    uint64_t max_entries;
    uint64_t max_age_ns;
    unsigned order;   /* an enum store_order; 0 if not given */
    const char *kind; /* evict only entries of this kind; NULL: all */
    bool is_all;
    ingot_storage_t storage;
    uint64_t count; /* what was removed */
    uint64_t bytes;
    ingot_status_t status;
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
    {"kind", 'k', VALUE_TEXT, "KIND", offsetof(struct evicting, kind),
     .help = "Evict only entries of this kind, as in \"ingot ls\": with --all, or with no other limit than --max-age"},
    {"order", 'o', VALUE_WORD, "ORDER", offsetof(struct evicting, order), .words = "fifo lru",
     .help = "Evict the oldest created first (fifo) or the least recently used first (lru). Default: "
             "INGOT_PERSIST_EVICTION"},
    {.help = NULL},
};

/* An entry_visitor that removes an entry of the kind if it is too old. */
static int evict_of_kind(const ingot_persist_entry_t *facts, void *user)
{
    struct evicting *evicting = user;
    const uint64_t time_ns = evicting->order == STORE_LRU ? facts->last_use_ns : facts->created_ns;
    const uint64_t now_ns = units_now_ns();
    const bool is_old = now_ns > time_ns && now_ns - time_ns > evicting->max_age_ns;
    if ((!evicting->is_all && !is_old) || facts->status != INGOT_SUCCESS ||
        !id_is_of_kind(facts->id_size, facts->id, evicting->kind))
        return 1;
    evicting->status = ingot_persist_remove_entry(evicting->storage, facts);
    evicting->count += evicting->status == INGOT_SUCCESS;
    evicting->bytes += evicting->status == INGOT_SUCCESS ? facts->bytes : 0;
    if (evicting->status == INGOT_NOT_FOUND)
        evicting->status = INGOT_SUCCESS; /* evicted in the meantime */
    return evicting->status == INGOT_SUCCESS;
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
    ingot_persist_limits_t limits = INGOT_PERSIST_LIMITS_INIT;
    ingot_persist_count_t total;
    const bool has_size = evicting->max_size != 0 || evicting->max_entries != 0;
    const bool has_limit = has_size || evicting->max_age_ns != 0;
    if (has_limit == evicting->is_all)
        return command_refuse(&command_evict, "give limits with --max-size, --max-entries or --max-age, or --all");
    if (evicting->kind != NULL && has_size)
        return command_refuse(&command_evict, "use --kind with --all, or with no other limit than --max-age");
    if (evicting->kind != NULL && evicting->max_age_ns == QUANTITY_NONE)
        evicting->max_age_ns = 0;
    int code = store_open(&evicting->storage, &evicting->common, STORE_WRITE, &evicting->order);
    if (code == EXIT_DONE && evicting->kind != NULL)
        code = entry_visit_all(evicting->storage, evict_of_kind, evicting);
    if (code != EXIT_DONE)
        goto done;
    limits.max_bytes = limit_in(evicting->max_size, 1);
    limits.max_entries = evicting->is_all ? INGOT_NONE : limit_in(evicting->max_entries, 1);
    limits.max_age_ms = limit_in(evicting->max_age_ns, NS_PER_MS);
    if (evicting->kind == NULL) {
        /* two passes for all entries, because others may store or use one during the first */
        for (int passes = evicting->is_all ? 2 : 1; passes > 0 && evicting->status == INGOT_SUCCESS; --passes) {
            uint64_t evicted = 0;
            uint64_t freed = 0;
            evicting->status = ingot_persist_evict(evicting->storage, &limits, &evicted, &freed);
            evicting->count += evicted;
            evicting->bytes += freed;
        }
    }
    if (evicting->status == INGOT_SUCCESS)
        (void)ingot_persist_recount(evicting->storage, &total); /* corrects the recorded total */
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "status", ingot_status_name(evicting->status));
    json_add_u64(json, "removed_entries", evicting->count);
    json_add_u64(json, "removed_bytes", evicting->bytes);
    output_print(json, evicting->common.is_json, "{removed_entries} entries removed, {removed_bytes:size}\n");
    if (evicting->status != INGOT_SUCCESS)
        code = store_failed("evicting", evicting->status);
done:
    ingot_storage_release(evicting->storage);
    return code;
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

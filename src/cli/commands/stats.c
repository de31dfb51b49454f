/*
 * stats.c - `ingot stats`: summarizes a store, in total and by kind, backend, device, driver and namespace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/commands/prometheus.h"
#include "cli/store/store.h"
#include "util/nanoseconds.h"

enum { BY_NAMESPACE, BY_KIND, BY_BACKEND, BY_DEVICE, BY_DRIVER, BY_STATUS, GROUPING_COUNT };

static const struct {
    const char *title;
    const char *name; /* in JSON */
} groupings[GROUPING_COUNT] = {{"NAMESPACE", "by_namespace"}, {"KIND", "by_kind"},     {"BACKEND", "by_backend"},
                               {"DEVICE", "by_device"},       {"DRIVER", "by_driver"}, {"STATUS", "by_status"}};

/* The entries that have something in common. */
struct share {
    int grouping;
    char *name;
    uint64_t entry_count;
    uint64_t bytes;
};

struct summary {
    struct common_options common;
    bool is_prometheus;
    const char *metrics_directory; /* NULL: INGOT_METRICS_DIR */
    bool is_prune;
    struct prometheus prometheus;
    uint64_t entry_count;
    uint64_t bytes;
    uint64_t blob_bytes;
    uint64_t largest;
    uint64_t oldest_ns; /* 0 if no entry has a time */
    uint64_t newest_ns;
    uint64_t last_use_ns;
    uint64_t old_count;
    struct share *shares; /* a store has few devices and drivers, so a list is enough */
    size_t share_count;
};

static void count_in(struct summary *summary, int grouping, const char *name, uint64_t bytes)
{
    size_t i = 0;
    name = name != NULL ? name : "unknown";
    while (i < summary->share_count &&
           (summary->shares[i].grouping != grouping || strcmp(summary->shares[i].name, name) != 0))
        ++i;
    if (i == summary->share_count) {
        summary->shares = memory_grow(summary->shares, summary->share_count, sizeof(*summary->shares));
        summary->shares[summary->share_count++] = (struct share){grouping, memory_copy_text(name), 0, 0};
    }
    ++summary->shares[i].entry_count;
    summary->shares[i].bytes += bytes;
}

static int add_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct summary *summary = user;
    cJSON *id = cJSON_CreateObject();
    cJSON *fields = id_read(entry->id_size, entry->id);

    ++summary->entry_count;
    summary->bytes += entry->bytes;
    summary->blob_bytes += entry->blob_size;
    summary->largest = entry->bytes > summary->largest ? entry->bytes : summary->largest;
    if (entry->created_ns != 0) {
        if (summary->oldest_ns == 0 || entry->created_ns < summary->oldest_ns)
            summary->oldest_ns = entry->created_ns;
        summary->newest_ns = entry->created_ns > summary->newest_ns ? entry->created_ns : summary->newest_ns;
        summary->last_use_ns = entry->last_use_ns > summary->last_use_ns ? entry->last_use_ns : summary->last_use_ns;
    }
    id_add_to_json(id, fields);
    count_in(summary, BY_NAMESPACE, entry->name_space, entry->bytes);
    count_in(summary, BY_KIND, id_kind(fields), entry->bytes);
    if (json_text(fields, "artifact") == NULL && !entry_is_probes(entry)) {
        count_in(summary, BY_BACKEND, json_text(id, "backend"), entry->bytes);
        count_in(summary, BY_DEVICE, json_text(id, "device"), entry->bytes);
        count_in(summary, BY_DRIVER, json_text(id, "driver"), entry->bytes);
    }
    count_in(summary, BY_STATUS, ingot_status_name(entry->status), entry->bytes);
    cJSON_Delete(fields);
    cJSON_Delete(id);
    return 1;
}

/* Orders shares by bytes, the largest first. */
static int by_bytes(const void *a, const void *b)
{
    const struct share *x = a;
    const struct share *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

static const char pattern[] = "entries    {entries}\n"
                              "size       {bytes:size} ({bytes} bytes)\n"
                              "blobs      {blob_bytes:size} ({blob_bytes} bytes)\n"
                              "recorded   {recorded_bytes:size} ({recorded_bytes} bytes)\n"
                              "largest    {largest_bytes:size} ({largest_bytes} bytes)\n"
                              "[oldest?oldest     {oldest} ({oldest:age} ago)\n]"
                              "[newest?newest     {newest} ({newest:age} ago)\n]"
                              "[last_use?last use   {last_use} ({last_use:age} ago)\n]"
                              "[old_format?old        directories of an earlier format, which nothing reads and "
                              "you may remove: {old_format}\n]";

static void add_gauge(struct summary *summary, const char *name, const char *help, const char *labels, uint64_t value)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "# HELP %s %s.", name, help);
    prometheus_add(&summary->prometheus, text, 0);
    (void)snprintf(text, sizeof(text), "# TYPE %s gauge", name);
    prometheus_add(&summary->prometheus, text, 0);
    (void)snprintf(text, sizeof(text), "%s%s", name, labels);
    prometheus_add(&summary->prometheus, text, (double)value);
}

/* A store_user_t that adds the store's gauges. */
static int add_gauges(ingot_storage_t storage, void *values)
{
    struct summary *summary = values;
    char labels[128];
    const int code = entry_visit_all(storage, add_entry, summary);
    for (size_t i = 0; i < summary->share_count; ++i) {
        const struct share *share = &summary->shares[i];
        if (share->grouping != BY_NAMESPACE)
            continue;
        (void)snprintf(labels, sizeof(labels), "{namespace=\"%s\"}", share->name);
        add_gauge(summary, "ingot_store_entries", "Entries of the store", labels, share->entry_count);
        add_gauge(summary, "ingot_store_bytes", "Size of the entries' files", labels, share->bytes);
    }
    if (summary->oldest_ns != 0)
        add_gauge(summary, "ingot_store_oldest_timestamp_seconds", "When the oldest entry was stored", "",
                  summary->oldest_ns / NS_PER_SECOND);
    return code;
}

/* A store_user_t that summarizes the store. */
static int summarize(ingot_storage_t storage, void *values)
{
    struct summary *summary = values;
    ingot_persist_count_t count;
    const int code = entry_visit_all(storage, add_entry, summary);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status = ingot_persist_recount(storage, &count); /* only counts: the store is read-only */
    if (status != INGOT_SUCCESS)
        return store_failed("reading the totals", status);
    if (summary->share_count > 1)
        qsort(summary->shares, summary->share_count, sizeof(*summary->shares), by_bytes);
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", summary->entry_count);
    json_add_u64(json, "bytes", summary->bytes);
    json_add_u64(json, "blob_bytes", summary->blob_bytes);
    json_add_u64(json, "recorded_bytes", count.recorded_bytes);
    json_add_u64(json, "largest_bytes", summary->largest);
    json_add_time(json, "oldest", summary->oldest_ns);
    json_add_time(json, "newest", summary->newest_ns);
    json_add_time(json, "last_use", summary->last_use_ns);
    json_add_u64(json, "old_format", summary->old_count);
    for (int i = 0; i < GROUPING_COUNT; ++i)
        (void)cJSON_AddArrayToObject(json, groupings[i].name);
    for (size_t i = 0; i < summary->share_count; ++i) {
        const struct share *share = &summary->shares[i];
        cJSON *item = cJSON_CreateObject();
        json_add_text(item, "name", share->name);
        json_add_u64(item, "entries", share->entry_count);
        json_add_u64(item, "bytes", share->bytes);
        (void)cJSON_AddItemToArray(cJSON_GetObjectItem(json, groupings[share->grouping].name), item);
    }
    if (summary->common.is_json) {
        json_print(json);
        return EXIT_DONE;
    }
    output_put(stdout, pattern, json);
    for (size_t i = 0; i < GROUPING_COUNT; ++i) {
        const struct table_column columns[] = {
            {"ENTRIES", "{entries}", true}, {"SIZE", "{bytes:size}", true}, {groupings[i].title, "{name}", false}};
        const cJSON *list = cJSON_GetObjectItem(json, groupings[i].name);
        (void)fputs(list->child != NULL ? "\n" : "", stdout);
        table_print_list(list, sizeof(columns) / sizeof(columns[0]), columns);
    }
    cJSON_Delete(json);
    return EXIT_DONE;
}

static int run_stats(void *values)
{
    struct summary *summary = values;
    summary->common.old_count = &summary->old_count;
    if (!summary->is_prometheus && !summary->is_prune && summary->metrics_directory == NULL)
        return store_use(&summary->common, STORE_READ, summarize, summary);
    const char *directory =
        summary->metrics_directory != NULL ? summary->metrics_directory : secure_getenv("INGOT_METRICS_DIR");
    const bool has_counts = directory != NULL && directory[0] != '\0';
    if (summary->common.is_json)
        return command_refuse(&command_stats, "--json is for summaries: Prometheus reads a format of its own");
    if (summary->is_prune && !has_counts)
        return command_refuse(&command_stats, "--prune needs --metrics-dir or INGOT_METRICS_DIR");
    int code = store_use(&summary->common, STORE_READ, add_gauges, summary);
    if (has_counts && (code == EXIT_DONE || code == EXIT_NO_STORE)) /* a machine may count before it has a store */
        code = prometheus_read(&summary->prometheus, directory, summary->is_prune);
    if (code == EXIT_DONE)
        prometheus_print(stdout, &summary->prometheus);
    return code;
}

static const struct command_option stats_options[] = {
    {"prometheus", 'p', VALUE_NONE, NULL, offsetof(struct summary, is_prometheus),
     .help = "Print the store's gauges, and what processes have counted, as Prometheus reads them"},
    {"metrics-dir", 'M', VALUE_TEXT, "DIR", offsetof(struct summary, metrics_directory),
     .help = "Add up the counts in this directory; implies --prometheus. Default: INGOT_METRICS_DIR"},
    {"prune", 0, VALUE_NONE, NULL, offsetof(struct summary, is_prune),
     .help = "Keep the counts of processes that have ended in one file, and remove theirs, up to 256 in one call; "
             "implies --prometheus"},
    {.help = NULL},
};

const struct command command_stats = {
    .name = "stats",
    .group = "Look into a store",
    .summary = "summarize a store by kind, backend, device and driver",
    .about =
        "Summarizes the store in total and by namespace, kind, backend, device, driver and status. \"recorded\" is "
        "the total that the store has recorded.",
    .options = stats_options,
    .size = sizeof(struct summary),
    .run = run_stats,
};

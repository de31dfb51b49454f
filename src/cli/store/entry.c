/*
 * entry.c - finds entries by name; see entry.h.
 */
#include "cli/store/entry.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/progress.h"
#include "cli/store/store.h"
#include "util/nanoseconds.h"

void entry_name(const ingot_persist_entry_t *facts, char name[ENTRY_NAME_SIZE])
{
    (void)snprintf(name, ENTRY_NAME_SIZE, "%s%s%" PRIu64 "/%" PRIu32, facts->name_space,
                   facts->name_space[0] != '\0' ? "/" : "", facts->bucket, facts->number);
}

void entry_tell_failure(const ingot_persist_entry_t *facts, const char *doing, ingot_status_t status)
{
    char name[ENTRY_NAME_SIZE];
    entry_name(facts, name);
    store_tell_failure(status, "%s %s", doing, name);
}

void entry_copy(struct entry *entry, const ingot_persist_entry_t *facts)
{
    entry->facts = *facts;
    entry->facts.name_space = memory_copy_text(facts->name_space);
    entry->facts.reason = memory_copy_text(facts->reason);
    entry->facts.id = facts->id != NULL ? memory_copy(facts->id_size, facts->id) : NULL;
    entry_name(facts, entry->name);
}

void entry_fini(struct entry *entry)
{
    free((char *)entry->facts.name_space); /* these strings are copies that belong to the entry */
    free((char *)entry->facts.reason);
    free((uint8_t *)entry->facts.id);
    memset(entry, 0, sizeof(*entry));
}

cJSON *entry_to_json(const ingot_persist_entry_t *facts)
{
    char name[ENTRY_NAME_SIZE];
    cJSON *json = cJSON_CreateObject();
    entry_name(facts, name);
    json_add_text(json, "entry", name);
    json_add_text(json, "namespace", facts->name_space);
    json_add_text(json, "status", ingot_status_name(facts->status));
    json_add_text(json, "reason", facts->reason);
    json_add_u64(json, "bytes", facts->bytes);
    json_add_u64(json, "blob_bytes", facts->blob_size);
    json_add_u64(json, "id_bytes", facts->id_size);
    json_add_time(json, "created", facts->created_ns);
    json_add_time(json, "last_use", facts->last_use_ns);
    return json;
}

cJSON *entry_describe_blob(ingot_buffer_t *blob)
{
    cJSON *json = json_describe(ingot_cache_blob_describe, blob->size, blob->bytes);
    store_release_blob(blob);
    return json;
}

const char *entry_title(const cJSON *blob)
{
    const char *label = json_text(blob, "label");
    const char *source = json_text(blob, "source_name");
    const char *kernel = cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItem(blob, "kernels"), 0));
    const char *title = label != NULL ? label : source;
    if ((title == NULL || title[0] == '\0') && kernel != NULL)
        title = kernel;
    return title != NULL ? title : "";
}

uint64_t entry_make_time_ns(const cJSON *blob)
{
    const uint64_t time_ms = json_get_u64(blob, "make_time_ms");
    return time_ms < UINT64_MAX / NS_PER_MS ? time_ms * NS_PER_MS : UINT64_MAX;
}

cJSON *entry_read_blob(ingot_storage_t storage, const ingot_persist_entry_t *facts)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    return ingot_persist_load_entry(storage, facts, 0, &blob) == INGOT_SUCCESS ? entry_describe_blob(&blob) : NULL;
}

struct visit {
    entry_visitor next;
    bool is_stopped;
    void *user;
    struct progress progress;
    uint64_t count;
    uint64_t bytes;
};

static ingot_status_t call_entry_visitor(const ingot_persist_entry_t *facts, void *user)
{
    struct visit *visit = user;
    visit->bytes += facts->bytes;
    progress_tell(&visit->progress, ++visit->count, 0, visit->bytes);
    visit->is_stopped = interrupt_seen() || visit->next(facts, visit->user) == 0;
    return visit->is_stopped ? INGOT_BUSY : INGOT_SUCCESS;
}

int entry_visit_all(ingot_storage_t storage, entry_visitor visit_one, void *user)
{
    struct visit visit = {.next = visit_one, .user = user};
    progress_init(&visit.progress, "reading");
    const ingot_status_t status = ingot_persist_for_each(storage, call_entry_visitor, &visit);
    progress_fini(&visit.progress);
    if (status != INGOT_SUCCESS && !visit.is_stopped)
        return store_failed("reading the store", status);
    return interrupt_seen() ? EXIT_INTERRUPTED : EXIT_DONE;
}

struct search {
    const char *wanted;
    struct entry *entry;
    unsigned match_count;
    bool is_exact;
};

static int match_entry(const ingot_persist_entry_t *facts, void *user)
{
    struct search *search = user;
    char name[ENTRY_NAME_SIZE];
    entry_name(facts, name);
    if (strncmp(name, search->wanted, strlen(search->wanted)) != 0)
        return 1;
    if (search->match_count++ != 0)
        entry_fini(search->entry);
    entry_copy(search->entry, facts);
    search->is_exact = strcmp(name, search->wanted) == 0;
    return !search->is_exact;
}

int entry_find(struct entry *entry, ingot_storage_t storage, const char *wanted)
{
    struct search search = {.wanted = wanted, .entry = entry};
    memset(entry, 0, sizeof(*entry));
    const int code = entry_visit_all(storage, match_entry, &search);
    if (code == EXIT_DONE && search.match_count != 0 && (search.is_exact || search.match_count == 1))
        return EXIT_DONE;
    entry_fini(entry);
    if (code != EXIT_DONE)
        return code;
    (void)fprintf(stderr, "ingot: %s: %s; \"ingot ls\" lists the entries\n", wanted,
                  search.match_count == 0 ? "no such entry" : "several entries have names that begin like this");
    return EXIT_FINDING;
}

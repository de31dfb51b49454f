/*
 * entry.c - finds entries by name; see store.h.
 */

#include <errno.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/directory.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/base.h"
#include "cli/store/store.h"
#include "util/entry_kind.h"
#include "util/key_bin.h"
#include "util/little_endian.h"

enum { LEAST_DIGITS = 6 }; /* of a digest that names a program */

void entry_name(const ingot_persist_entry_t *facts, char name[ENTRY_NAME_SIZE])
{
    (void)snprintf(name, ENTRY_NAME_SIZE, "%s%s%s", facts->name_space, facts->name_space[0] != '\0' ? "/" : "",
                   facts->place);
}

bool entry_is_probes(const ingot_persist_entry_t *facts)
{
    return entry_kind_of(facts->id_size, facts->id) == ENTRY_PROBES;
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
    visit->is_stopped = visit->next(facts, visit->user) == 0;
    return visit->is_stopped ? INGOT_BUSY : INGOT_SUCCESS;
}

int entry_visit_all(ingot_storage_t storage, entry_visitor visit_one, void *user)
{
    struct visit visit = {.next = visit_one, .user = user};
    progress_init(&visit.progress, "reading");
    const ingot_status_t status = ingot_persist_for_each(storage, call_entry_visitor, &visit);
    progress_fini(&visit.progress);
    return status == INGOT_SUCCESS || visit.is_stopped ? EXIT_DONE : store_failed("reading the store", status);
}

struct search {
    const char *wanted;
    ingot_storage_t storage;
    bool is_by_title; /* compares titles and the digests of sources, instead of names */
    struct entry *found;
    size_t count;
};

static void drop_found(struct search *search)
{
    while (search->count != 0)
        entry_fini(&search->found[--search->count]);
}

static int match_entry(const ingot_persist_entry_t *facts, void *user)
{
    struct search *search = user;
    const char *wanted = search->wanted;
    char name[ENTRY_NAME_SIZE];
    entry_name(facts, name);
    const size_t size = strlen(wanted);
    const char *place = name + strlen(facts->name_space) + (facts->name_space[0] != '\0');
    const bool is_exact = !search->is_by_title && strcmp(name, wanted) == 0;
    bool is_meant = strncmp(name, wanted, size) == 0 || strncmp(place, wanted, size) == 0;
    if (search->is_by_title) { /* as "ingot ls" shows titles and digests */
        cJSON *id = id_read(facts->id_size, facts->id);
        is_meant = size >= LEAST_DIGITS && id_has_digest(id, wanted);
        cJSON *blob = is_meant || facts->status != INGOT_SUCCESS ? NULL : entry_read_blob(search->storage, facts);
        is_meant = is_meant || (blob != NULL && strcmp(entry_title(blob), wanted) == 0);
        cJSON_Delete(blob);
        cJSON_Delete(id);
    }
    if (is_exact)
        drop_found(search);
    if (is_meant) {
        search->found = memory_grow(search->found, search->count, sizeof(*search->found));
        entry_copy(&search->found[search->count++], facts);
    }
    return !is_exact;
}

int entry_find_all(struct entry **found, size_t *count, ingot_storage_t storage, const char *wanted, bool is_one)
{
    struct search search = {.wanted = wanted, .storage = storage};
    int code = entry_visit_all(storage, match_entry, &search);
    if (code == EXIT_DONE && search.count == 0 && wanted[0] != '\0') {
        search.is_by_title = true;
        code = entry_visit_all(storage, match_entry, &search);
    }
    *found = search.found;
    *count = search.count;
    if (code == EXIT_DONE && (search.count == 1 || (search.count != 0 && search.is_by_title && !is_one)))
        return EXIT_DONE;
    drop_found(&search);
    if (code != EXIT_DONE)
        return code;
    if (*count != 0 && search.is_by_title)
        (void)fprintf(stderr, "ingot: %zu entries have the name %s; \"ingot ls\" lists them\n", *count, wanted);
    else
        (void)fprintf(stderr, "ingot: %s: %s; \"ingot ls\" lists the entries\n", wanted,
                      *count == 0 ? "no such entry" : "several entries have names that begin like this");
    return EXIT_FINDING;
}

int entry_find(struct entry *entry, ingot_storage_t storage, const char *wanted)
{
    struct entry *found = NULL;
    size_t count = 0;
    const int code = entry_find_all(&found, &count, storage, wanted, true);
    if (code == EXIT_DONE)
        *entry = found[0];
    free(found);
    return code;
}

enum { ID_SIZE_LIMIT = 1 << 26 };

bool id_file_is(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

int id_file_read(struct entry *entry, const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)fprintf(stderr, "ingot: %s cannot be read: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    for (int c = getc(file); c != EOF && size <= (size_t)ID_SIZE_LIMIT + KEY_BIN_AT_ID; c = getc(file)) {
        bytes = memory_grow(bytes, size, 1);
        bytes[size++] = (uint8_t)c;
    }
    const int error = ferror(file) != 0 ? errno : 0;
    const bool has_header = size > KEY_BIN_AT_ID && memcmp(bytes, KEY_BIN_MAGIC, sizeof(KEY_BIN_MAGIC) - 1) == 0;
    const size_t header_size = has_header ? KEY_BIN_AT_ID : 0;
    /* According to the header of a key.bin. In a single file, the blob follows the id. */
    const uint64_t named_size = has_header ? le_get_u64(bytes + KEY_BIN_AT_ID_SIZE) : size;
    const size_t id_size = named_size < size - header_size ? (size_t)named_size : size - header_size;
    const ingot_persist_entry_t facts = {.name_space = "",
                                         .reason = size == 0 ? "the file is empty" : "",
                                         .bytes = size,
                                         .blob_size = size - header_size - id_size,
                                         .id_size = id_size,
                                         .id = size != 0 ? bytes + header_size : NULL};
    entry_copy(entry, &facts);
    free(bytes);
    (void)fclose(file);
    if (error != 0)
        (void)fprintf(stderr, "ingot: reading %s failed: %s\n", path, strerror(error));
    return error == 0 ? EXIT_DONE : EXIT_FAILED;
}

ingot_status_t id_file_load(const char *path, const struct entry *entry, ingot_buffer_t *blob)
{
    ingot_storage_t file = NULL;
    ingot_status_t status = ingot_persist_open_file(&file, path, NULL);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_load(file, entry->facts.id_size, entry->facts.id, blob);
    ingot_storage_release(file);
    return status;
}

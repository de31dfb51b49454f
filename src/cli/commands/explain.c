/*
 * explain.c - `ingot explain`: shows why an id would be a miss, by the fields in which the nearest stored id differs.
 *
 * The nearest entry has the same sources, or is an artifact of the same kind and of the program that its key names, if
 * there is such an entry, and differs in the fewest fields: another build of the same program explains a miss better
 * than another program with the same options. The more words the two values of a field have in common, the less the
 * field counts. It hardly counts at all if only the order of the words differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ingot/private/artifact.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/directory.h>
#include <ingot/private/persist.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"

#define FILE_PREFIX "file "

enum { SOURCE_WEIGHT = 1000, DEFAULT_LAST = 5, MOST_LAST = 1000, MOST_LOADED = 1000 };
enum { MOST_OF_LINE = 120, FIELD_SIZE = 600 };

static const double order_weight = 0.01; /* the least weight of a field that differs */

/* An id, and the entry that is nearest to it. */
struct comparison {
    struct entry wanted; /* if it comes from a file, only its id is set */
    struct entry nearest;
    struct entry elsewhere; /* has the wanted id in another namespace */
    cJSON *differences;     /* NULL: nothing to compare with */
    double distance;
    size_t compared_count;
    cJSON *details; /* of the wanted entry; NULL: not read, or refused */
};

struct explaining {
    struct common_options common;
    const char *wanted_name; /* a file or an entry; NULL: the last misses */
    uint64_t last;           /* how many of the last misses to explain; 0: not given */
    bool is_stored; /* true if the wanted names are entries of the store; an entry is then not compared with itself */
    ingot_storage_t storage;
    struct comparison *comparisons;
    size_t count;
    size_t capacity;     /* of the last misses */
    size_t loaded_count; /* how many blobs were loaded for comparisons */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_TEXT, "ID", offsetof(struct explaining, wanted_name),
     .help =
         "A file with a cache blob id as returned by ingot_program_desc_get_cache_blob_id(), a key.bin of any store, a "
         "single file, or the name of an entry, which is compared with all others. Default: the last misses"},
    {"last", 'l', VALUE_COUNT, "COUNT", offsetof(struct explaining, last),
     .help = "How many of the last misses to explain if there is no ID. Default: 5"},
    {.help = NULL},
};

/* ---- the last misses: each was made and stored, so they are the newest entries ---- */

/* Keeps an entry if it is among the newest, which are ordered with the newest first. */
static int note_new(const ingot_persist_entry_t *facts, void *user)
{
    struct explaining *explaining = user;
    struct comparison *items = explaining->comparisons;
    size_t at = explaining->count;
    if (facts->id == NULL || facts->status != INGOT_SUCCESS || entry_is_probes(facts))
        return 1;
    while (at > 0 && items[at - 1].wanted.facts.created_ns < facts->created_ns)
        --at;
    if (at == explaining->capacity)
        return 1;
    if (explaining->count == explaining->capacity)
        entry_fini(&items[--explaining->count].wanted);
    memmove(&items[at + 1], &items[at], (explaining->count - at) * sizeof(*items));
    memset(&items[at], 0, sizeof(*items));
    entry_copy(&items[at].wanted, facts);
    ++explaining->count;
    return 1;
}

/* ---- what blobs tell beside ids: the included files of programs, and what frameworks store beside the code that they
 * compiled, such as Triton's metadata ---- */

static void add_members(cJSON *details, const char *part, size_t size, const char *bytes)
{
    char field[FIELD_SIZE];
    const cJSON *member;
    cJSON *object = cJSON_ParseWithLength(bytes, size);
    cJSON_ArrayForEach(member, object)
    {
        if (!cJSON_IsObject(object))
            break;
        char *value = cJSON_PrintUnformatted(member);
        (void)snprintf(field, sizeof(field), "%.290s: %.300s", part, member->string);
        if (strcmp(member->string, "hash") != 0)
            (void)cJSON_AddStringToObject(details, field, value);
        cJSON_free(value);
    }
    cJSON_Delete(object);
}

/* Adds a text without the lines that only tell where in the application's files it is from. */
static void add_source(cJSON *details, const char *part, size_t size, const char *bytes)
{
    char *text = memory_get(size + 1);
    char *kept = memory_get(size + 2);
    char *rest = NULL;
    size_t kept_size = 0;
    (void)snprintf(text, size + 1, "%.*s", (int)size, bytes);
    kept[0] = '\0';
    for (const char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "#loc", 4) != 0)
            kept_size += (size_t)sprintf(kept + kept_size, "%s\n", line);
    (void)cJSON_AddStringToObject(details, part, kept);
    free(kept);
    free(text);
}

/* Loads an entry's blob. Returns an object with the title of the entry and, as "details", an object of texts: the
 * digests of included files, the members of parts in JSON, and the parts that are sources. NULL: it cannot be loaded.
 */
static cJSON *read_details(ingot_storage_t storage, const ingot_persist_entry_t *facts)
{
    char field[FIELD_SIZE];
    const cJSON *file;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT; /* points into the value */
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    if (ingot_persist_load_entry(storage, facts, 0, &blob) != INGOT_SUCCESS)
        return NULL;
    cJSON *read = cJSON_CreateObject();
    cJSON *details = cJSON_AddObjectToObject(read, "details");
    cJSON *described = json_describe(ingot_cache_blob_describe, blob.size, blob.bytes);
    cJSON_ArrayForEach(file, cJSON_GetObjectItem(described, "files"))
    {
        (void)snprintf(field, sizeof(field), FILE_PREFIX "%s", json_text(file, "name"));
        (void)cJSON_AddStringToObject(details, field, json_text(file, "blake2b"));
    }
    if (ingot_artifact_unpack(facts->id_size, facts->id, &blob, &value) == INGOT_SUCCESS)
        (void)ingot_artifact_get_info(&value, &info);
    const char *bytes = (const char *)value.bytes;
    for (size_t i = 0; i < info.part_count; ++i) {
        const ingot_artifact_part_t *part = &info.parts[i];
        if (text_ends_in(part->name, ".json"))
            add_members(details, part->name, (size_t)part->size, bytes);
        else if (text_ends_in(part->name, ".source"))
            add_source(details, part->name, (size_t)part->size, bytes);
        bytes += part->size;
    }
    store_release_blob(&value);
    json_add_text(read, "title", entry_title(described));
    cJSON_Delete(described);
    store_release_blob(&blob);
    return read;
}

/* True if both are versions of one program: they have the same title, and include a file of one name. */
static bool are_related(const cJSON *wanted, const cJSON *found)
{
    const cJSON *detail;
    const cJSON *others = cJSON_GetObjectItem(found, "details");
    if (found == NULL || strcmp(json_text(wanted, "title"), json_text(found, "title")) != 0)
        return false;
    cJSON_ArrayForEach(detail, cJSON_GetObjectItem(wanted, "details"))
    {
        if (strncmp(detail->string, FILE_PREFIX, strlen(FILE_PREFIX)) == 0 && json_text(others, detail->string) != NULL)
            return true;
    }
    return false;
}

/* Adds a text to a difference, or the line of it that begins here. */
static void add_line(cJSON *difference, const char *name, const char *text)
{
    char line[MOST_OF_LINE + 1];
    const size_t size = text != NULL ? strcspn(text, "\n") : 0;
    if (text != NULL && text[size] == '\n') {
        text += strspn(text, " ");
        (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
        text = line;
    }
    json_add_text(difference, name, text);
}

/* Adds the details that `others` has not, or with another text. Those that both have are added once. */
static void add_differences(cJSON *list, const cJSON *details, const cJSON *others, bool is_wanted)
{
    const cJSON *detail;
    cJSON_ArrayForEach(detail, details)
    {
        const char *text = detail->valuestring;
        const char *other = json_text(others, detail->string);
        if (other != NULL && (!is_wanted || strcmp(text, other) == 0))
            continue;
        for (size_t i = 0, line = 0; other != NULL && text[i] == other[i]; ++i) {
            line = text[i] == '\n' ? i + 1 : line;
            if (text[i + 1] != other[i + 1]) { /* the first line that differs begins there */
                text += line;
                other += line;
                break;
            }
        }
        cJSON *difference = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(difference, "field", detail->string);
        add_line(difference, "expected", is_wanted ? text : other);
        add_line(difference, "found", is_wanted ? other : text);
        (void)cJSON_AddItemToArray(list, difference);
    }
}

/* Adds what differs. Of sources, that is the first line. If there is anything, it replaces the difference of a
 * framework's key, which is only a hash. */
static void compare_details(cJSON *differences, const cJSON *wanted, const cJSON *found)
{
    const cJSON *details = cJSON_GetObjectItem(wanted, "details");
    const cJSON *others = cJSON_GetObjectItem(found, "details");
    const int before = cJSON_GetArraySize(differences);
    if (wanted == NULL || found == NULL)
        return;
    add_differences(differences, details, others, true);
    add_differences(differences, others, details, false);
    const bool is_known = cJSON_GetArraySize(differences) > before;
    for (int i = before - 1; i >= 0 && is_known; --i)
        if (strcmp(json_text(cJSON_GetArrayItem(differences, i), "field"), "key.key") == 0)
            cJSON_DeleteItemFromArray(differences, i);
}

/* ---- comparing ---- */

/* Returns the sum of the weights of the fields that differ. Sets the number of sources among them. Two texts have a
 * distance between 0 (they have the same words in any order) and 1 (they have no word in common). */
static double distance_of(const cJSON *differences, size_t *source_count)
{
    const cJSON *difference;
    double distance = 0;
    *source_count = 0;
    cJSON_ArrayForEach(difference, differences)
    {
        const char *field = json_text(difference, "field");
        const char *wanted = json_text(difference, "expected");
        const char *found = json_text(difference, "found");
        const bool is_source = strncmp(field, "source[", 7) == 0;
        size_t shared = 0;
        size_t other = 0;
        free(text_select_words(wanted, found, true, &shared));
        free(text_select_words(found, wanted, true, &shared));
        free(text_select_words(wanted, found, false, &other));
        free(text_select_words(found, wanted, false, &other));
        const double of_texts = other == 0 ? 0 : (double)other / (double)(shared + other);
        *source_count += is_source;
        if (is_source || strcmp(field, "artifact") == 0 || strcmp(field, "key.program") == 0)
            distance += SOURCE_WEIGHT;
        else
            distance += wanted == NULL || found == NULL ? 1 : order_weight + (1 - order_weight) * of_texts;
    }
    return distance;
}

static void compare_wanted_with_entry(struct explaining *explaining, struct comparison *comparison,
                                      const ingot_persist_entry_t *facts)
{
    const ingot_persist_entry_t *wanted = &comparison->wanted.facts;
    size_t source_count = 0;
    cJSON *differences = id_compare(wanted->id_size, wanted->id, facts->id_size, facts->id);
    if (differences == NULL)
        return;
    ++comparison->compared_count;
    double distance = distance_of(differences, &source_count);
    const double of_other_version = distance - (double)source_count * SOURCE_WEIGHT + 1;
    /* It may be the wanted program with other included files, which only its blob tells: the id has the text of a
     * source with all that it includes. */
    if (source_count != 0 && (comparison->differences == NULL || of_other_version < comparison->distance) &&
        comparison->details != NULL && ++explaining->loaded_count <= MOST_LOADED) {
        cJSON *details = read_details(explaining->storage, facts);
        distance = are_related(comparison->details, details) ? of_other_version : distance;
        cJSON_Delete(details);
    }
    if (comparison->differences != NULL && distance >= comparison->distance) {
        cJSON_Delete(differences);
        return;
    }
    cJSON_Delete(comparison->differences);
    entry_fini(&comparison->nearest);
    comparison->differences = differences;
    comparison->distance = distance;
    entry_copy(&comparison->nearest, facts);
}

/* Compares an entry with all that is wanted. A miss is only compared with what was there before. Returns false if
 * nothing can be nearer. */
static int compare_entry_with_wanted(const ingot_persist_entry_t *facts, void *user)
{
    struct explaining *explaining = user;
    char name[ENTRY_NAME_SIZE];
    bool is_done = true;
    entry_name(facts, name);
    for (size_t i = 0; i < explaining->count; ++i) {
        struct comparison *comparison = &explaining->comparisons[i];
        const bool is_itself = explaining->is_stored && strcmp(name, comparison->wanted.name) == 0;
        const bool is_later = explaining->capacity != 0 && facts->created_ns > comparison->wanted.facts.created_ns;
        if (!entry_is_probes(facts) && facts->id != NULL && !is_itself && !is_later)
            compare_wanted_with_entry(explaining, comparison, facts);
        is_done = is_done && comparison->differences != NULL && comparison->distance <= 0;
    }
    return !is_done;
}

/* ---- output ---- */

#define DIFFERENCES "<differences*{field}\n  wanted:  {expected:11|(none)}\n  stored:  {found:11|(none)}\n>"

static cJSON *comparison_to_json(struct comparison *comparison, const char *verdict, const char *detail)
{
    const bool is_compared = comparison->differences != NULL;
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "verdict", verdict);
    json_add_text(json, "nearest", is_compared ? comparison->nearest.name : NULL);
    json_add_text(json, "refusal", detail[0] != '\0' ? detail : NULL);
    json_add_u64(json, "compared", comparison->compared_count);
    (void)cJSON_AddItemToObject(json, "differences", is_compared ? comparison->differences : cJSON_CreateArray());
    comparison->differences = NULL; /* `json` owns the differences now */
    return json;
}

/* Adds when the wanted entry was evicted before a time, if the store remembers that. */
static void add_eviction(const struct explaining *explaining, const struct comparison *comparison, uint64_t before_ns,
                         cJSON *json)
{
    const ingot_persist_entry_t *wanted = &comparison->wanted.facts;
    uint64_t time_ns = 0;
    if (ingot_persist_find_evicted(explaining->storage, wanted->id_size, wanted->id, &time_ns) != INGOT_SUCCESS ||
        time_ns > before_ns)
        time_ns = 0;
    json_add_time(json, "evicted", time_ns);
}

/* Compares an entry's id with the wanted one. Keeps the entry if they are equal. */
static int keep_equal(const ingot_persist_entry_t *facts, void *user)
{
    struct comparison *comparison = user;
    const ingot_persist_entry_t *wanted = &comparison->wanted.facts;
    if (facts->id == NULL || facts->id_size != wanted->id_size || memcmp(facts->id, wanted->id, wanted->id_size) != 0)
        return 1;
    entry_copy(&comparison->elsewhere, facts);
    return 0;
}

/* Prints the verdict and returns its exit_code. An equal id is a hit only if the blob is valid, too. */
static int print_verdict(struct explaining *explaining)
{
    struct comparison *comparison = &explaining->comparisons[0];
    struct common_options wider = explaining->common;
    ingot_storage_t storage = NULL;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    bool is_hit = comparison->differences != NULL && comparison->distance <= 0;
    const char *detail = "";
    if (is_hit &&
        ingot_persist_load_entry(explaining->storage, &comparison->nearest.facts, 0, &blob) != INGOT_SUCCESS) {
        is_hit = false;
        detail = ingot_last_error_detail();
    } else if (!is_hit && wider.name_space != NULL) { /* only a namespace was looked into */
        wider.name_space = NULL;
        if (store_open(&storage, &wider, STORE_READ, NULL) == EXIT_DONE)
            (void)entry_visit_all(storage, keep_equal, comparison);
        ingot_storage_release(storage);
    }
    cJSON *json = comparison_to_json(comparison, is_hit ? "hit" : "miss", detail);
    json_add_text(json, "elsewhere", comparison->elsewhere.name[0] != '\0' ? comparison->elsewhere.name : NULL);
    add_eviction(explaining, comparison, is_hit ? 0 : UINT64_MAX, json);
    output_print(json, explaining->common.is_json,
                 "{verdict}: [evicted?it was evicted {evicted:age} ago; ][elsewhere?another namespace has it, "
                 "{elsewhere}; ][nearest?[differences?nearest is][differences!stored as] {nearest}][nearest!no entry "
                 "to compare with][refusal?, refused: {refusal}]\n" DIFFERENCES);
    store_release_blob(&blob);
    return is_hit ? EXIT_DONE : EXIT_FINDING;
}

/* Prints why each of the last misses was one. */
static int tell_last(struct explaining *explaining)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < explaining->count; ++i) {
        struct comparison *comparison = &explaining->comparisons[i];
        /* It is no other version of the same program, and no artifact of the same kind. */
        const bool is_new = comparison->differences == NULL || comparison->distance >= SOURCE_WEIGHT;
        cJSON *json = comparison_to_json(comparison, is_new ? "new" : "miss", "");
        json_add_text(json, "entry", comparison->wanted.name);
        json_add_text(json, "name", json_text(comparison->details, "title"));
        json_add_time(json, "created", comparison->wanted.facts.created_ns);
        add_eviction(explaining, comparison, comparison->wanted.facts.created_ns, json);
        (void)cJSON_AddItemToArray(list, json);
        if (explaining->common.is_json)
            continue;
        output_put(stdout, i != 0 ? "\n" : "", json);
        output_put(stdout,
                   "{entry} [name?{name}, ]stored {created:age} ago: [evicted?it was there before, and evicted "
                   "{evicted:age} ago; ]",
                   json);
        output_put(stdout, is_new ? "new, no earlier entry has its sources\n" : "nearest is {nearest}\n" DIFFERENCES,
                   json);
    }
    output_print(list, explaining->common.is_json, "");
    return EXIT_DONE;
}

/* ---- the command ---- */

static int explain_misses(ingot_storage_t storage, void *values)
{
    struct explaining *explaining = values;
    const bool is_last = explaining->wanted_name == NULL;
    explaining->storage = storage;
    explaining->is_stored = true;
    struct entry *wanted = &explaining->comparisons[0].wanted;
    if (!is_last) {
        explaining->count = 1;
        explaining->is_stored = !id_file_is(explaining->wanted_name);
    }
    int code = is_last                 ? entry_visit_all(storage, note_new, explaining)
               : explaining->is_stored ? entry_find(wanted, storage, explaining->wanted_name)
                                       : id_file_read(wanted, explaining->wanted_name);
    if (code == EXIT_DONE && !is_last) {
        size_t size = 0;
        if (wanted->facts.id == NULL) {
            (void)fprintf(stderr, "ingot: %s has no id: %s\n", explaining->wanted_name, wanted->facts.reason);
            return EXIT_FAILED;
        }
        const ingot_status_t status =
            ingot_cache_blob_id_describe(wanted->facts.id_size, wanted->facts.id, &size, NULL);
        code = status == INGOT_SUCCESS ? EXIT_DONE : store_failed("reading the wanted id", status);
    }
    for (size_t i = 0; i < explaining->count && code == EXIT_DONE && explaining->is_stored; ++i)
        explaining->comparisons[i].details = read_details(storage, &explaining->comparisons[i].wanted.facts);
    if (code == EXIT_DONE)
        code = entry_visit_all(storage, compare_entry_with_wanted, explaining);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < explaining->count; ++i) {
        struct comparison *comparison = &explaining->comparisons[i];
        if (comparison->details == NULL || cJSON_GetArraySize(comparison->differences) == 0)
            continue;
        cJSON *details = read_details(storage, &comparison->nearest.facts);
        compare_details(comparison->differences, comparison->details, details);
        cJSON_Delete(details);
    }
    return is_last ? tell_last(explaining) : print_verdict(explaining);
}

static int run_explain(void *values)
{
    struct explaining *explaining = values;
    const bool is_last = explaining->wanted_name == NULL;
    const size_t count = !is_last ? 1 : explaining->last != 0 ? (size_t)explaining->last : DEFAULT_LAST;
    if (count > MOST_LAST || (!is_last && explaining->last != 0))
        return command_refuse(&command_explain, "use --last without ID, and with a number of at most %d", MOST_LAST);
    explaining->comparisons = memory_get((count + 1) * sizeof(*explaining->comparisons));
    explaining->capacity = is_last ? count : 0;
    return store_use(&explaining->common, STORE_READ, explain_misses, explaining);
}

const struct command command_explain = {
    .name = "explain",
    .group = "Look into a store",
    .summary = "explain why an id would be a miss",
    .about = "Shows whether a program or an artifact with this id would be found, and if not, in which fields the "
             "nearest stored id differs. The nearest entry has the same sources, or is an artifact of the same kind, "
             "and then differs in the fewest fields. A different order of options hardly counts.\n\n"
             "Without an ID, it explains the last misses: the newest entries, each of which was made because the store "
             "did not have it, are compared with earlier ones. Of artifacts that are stored, parts in JSON and sources "
             "are compared, too, and of programs, the files that they include.",
    .options = options,
    .size = sizeof(struct explaining),
    .run = run_explain,
};

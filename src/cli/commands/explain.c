/*
 * explain.c - `ingot explain`: shows why an id would be a miss, by the fields in which the nearest stored id differs.
 *
 * The nearest entry has the same sources, or is an artifact of the same kind, if there is such an entry, and differs in
 * the fewest fields: another build of the same program explains a miss better than another program with the same
 * options. The more words the two values of a field have in common, the less the field counts. It hardly counts at all
 * if only the order of the words differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/text.h"
#include "cli/commands/all.h"
#include "cli/commands/id_file.h"
#include "cli/commands/words.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"
#include "util/key_bin.h"
#include "util/little_endian.h"

enum { SOURCE_WEIGHT = 1000 };

static const double order_weight = 0.01; /* the least weight of a field that differs */

struct explaining {
    struct common_options common;
    const char *wanted_name; /* a file or an entry */
    const char *other_name;  /* a single file or an entry; NULL: the nearest */
    struct entry wanted;     /* if it comes from a file, only its id is set */
    bool is_stored;          /* true if wanted is an entry of the store, which must not be its own nearest */
    bool is_of_file;         /* true if wanted is compared with a single file */
    struct entry nearest;
    cJSON *differences; /* NULL: nothing to compare with */
    double distance;
    size_t compared_count;
};

static const struct command_option options[] = {
    {.kind = VALUE_ENTRY,
     .flags = OPTION_REQUIRED,
     .value = "ID",
     .at = offsetof(struct explaining, wanted_name),
     .help = "A file with a cache blob id as returned by ingot_program_desc_get_cache_blob_id(), a key.bin of any "
             "store, a single file, or the name of an entry, which is compared with all others"},
    {.kind = VALUE_ENTRY,
     .value = "ENTRY",
     .at = offsetof(struct explaining, other_name),
     .help = "The entry, or the path of a single file, to compare with. Default: the nearest entry"},
    {.help = NULL},
};

static int find_wanted(struct explaining *explaining, ingot_storage_t storage)
{
    size_t size = 0;
    FILE *file = id_file_open(explaining->wanted_name);
    explaining->is_stored = file == NULL;
    const int code = file != NULL ? id_file_read(&explaining->wanted, explaining->wanted_name, file)
                                  : entry_find(&explaining->wanted, storage, explaining->wanted_name);
    if (file != NULL)
        (void)fclose(file);
    if (code != EXIT_DONE)
        return code;
    const ingot_persist_entry_t *facts = &explaining->wanted.facts;
    if (facts->id == NULL) {
        (void)fprintf(stderr, "ingot: %s has no id: %s\n", explaining->wanted_name, facts->reason);
        return EXIT_FAILED;
    }
    const ingot_status_t status = ingot_cache_blob_id_describe(facts->id_size, facts->id, &size, NULL);
    return status == INGOT_SUCCESS ? EXIT_DONE : store_failed("reading the wanted id", status);
}

static double weight_of(const cJSON *difference)
{
    const char *field = cJSON_GetStringValue(cJSON_GetObjectItem(difference, "field"));
    const char *wanted = cJSON_GetStringValue(cJSON_GetObjectItem(difference, "expected"));
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(difference, "found"));
    if (strncmp(field, "source[", 7) == 0 || strcmp(field, "artifact") == 0)
        return SOURCE_WEIGHT;
    if (wanted == NULL || found == NULL)
        return 1;
    return order_weight + (1 - order_weight) * words_distance(wanted, found);
}

static double distance_of(const cJSON *differences)
{
    const cJSON *difference;
    double distance = 0;
    cJSON_ArrayForEach(difference, differences)
    {
        distance += weight_of(difference);
    }
    return distance;
}

static int compare_entry(const ingot_persist_entry_t *facts, void *user)
{
    struct explaining *explaining = user;
    const ingot_persist_entry_t *wanted = &explaining->wanted.facts;
    char name[ENTRY_NAME_SIZE];

    entry_name(facts, name);
    if (facts->id == NULL || (explaining->is_stored && strcmp(name, explaining->wanted.name) == 0))
        return 1;
    cJSON *differences = id_compare(wanted->id_size, wanted->id, facts->id_size, facts->id);
    if (differences == NULL)
        return 1;
    ++explaining->compared_count;
    const double distance = distance_of(differences);
    if (explaining->differences != NULL && distance >= explaining->distance) {
        cJSON_Delete(differences);
        return 1;
    }
    cJSON_Delete(explaining->differences);
    entry_fini(&explaining->nearest);
    explaining->differences = differences;
    explaining->distance = distance;
    entry_copy(&explaining->nearest, facts);
    return distance > 0;
}

/* Reads the id to compare with, from a single file or an entry. */
static int find_other(struct explaining *explaining, ingot_storage_t storage, struct entry *other)
{
    FILE *file = id_file_open(explaining->other_name);
    if (file == NULL)
        return entry_find(other, storage, explaining->other_name);
    explaining->is_of_file = true;
    const int code = id_file_read(other, explaining->other_name, file);
    (void)fclose(file);
    return code;
}

static int find_nearest(struct explaining *explaining, ingot_storage_t storage)
{
    struct entry other;
    if (explaining->other_name == NULL)
        return entry_visit_all(storage, compare_entry, explaining);
    const int code = find_other(explaining, storage, &other);
    if (code == EXIT_DONE) {
        (void)compare_entry(&other.facts, explaining);
        entry_fini(&other);
    }
    return code;
}

static const char *name_of_nearest(const struct explaining *explaining)
{
    return explaining->is_of_file ? explaining->other_name : explaining->nearest.name;
}

static void print_value(const char *name, const cJSON *value)
{
    (void)printf("  %s ", name);
    text_print(cJSON_IsString(value) ? value->valuestring : "(none)", 11);
    (void)putchar('\n');
}

static void print_text(const struct explaining *explaining, const char *verdict, const char *detail)
{
    const cJSON *difference;
    (void)printf("%s", verdict);
    if (explaining->differences != NULL) {
        (void)printf(": %s ", explaining->distance > 0 ? "nearest is" : "stored as");
        text_print(name_of_nearest(explaining), 0);
    } else {
        (void)fputs(": no entry to compare with", stdout);
    }
    if (detail[0] != '\0') {
        (void)fputs(", refused: ", stdout);
        text_print(detail, 2);
    }
    (void)putchar('\n');
    cJSON_ArrayForEach(difference, explaining->differences)
    {
        text_print(cJSON_GetStringValue(cJSON_GetObjectItem(difference, "field")), 0);
        (void)putchar('\n');
        print_value("wanted: ", cJSON_GetObjectItem(difference, "expected"));
        print_value("stored: ", cJSON_GetObjectItem(difference, "found"));
    }
}

static void print_json(struct explaining *explaining, const char *verdict, const char *detail)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "verdict", verdict);
    json_add_text(json, "nearest", explaining->differences != NULL ? name_of_nearest(explaining) : NULL);
    json_add_text(json, "refusal", detail[0] != '\0' ? detail : NULL);
    json_add_u64(json, "compared", explaining->compared_count);
    (void)cJSON_AddItemToObject(json, "differences",
                                explaining->differences != NULL ? explaining->differences : cJSON_CreateArray());
    explaining->differences = NULL; /* `json` owns the differences now */
    json_print(json);
}

static ingot_status_t load_nearest(const struct explaining *explaining, ingot_storage_t storage, ingot_buffer_t *blob)
{
    return explaining->is_of_file ? id_file_load(explaining->other_name, &explaining->wanted, blob)
                                  : ingot_persist_load_entry(storage, &explaining->nearest.facts, blob);
}

/* Prints the verdict and returns its exit_code. An equal id is a hit only if the blob is valid, too. */
static int judge(struct explaining *explaining, ingot_storage_t storage)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    bool is_hit = explaining->differences != NULL && explaining->distance <= 0;
    const char *detail = "";
    if (is_hit && load_nearest(explaining, storage, &blob) != INGOT_SUCCESS) {
        is_hit = false;
        detail = ingot_last_error_detail();
    }
    if (explaining->common.is_json)
        print_json(explaining, is_hit ? "hit" : "miss", detail);
    else
        print_text(explaining, is_hit ? "hit" : "miss", detail);
    if (blob.release != NULL)
        blob.release(&blob);
    return is_hit ? EXIT_DONE : EXIT_FINDING;
}

/* True unless two files are compared. */
static bool needs_store(const struct explaining *explaining)
{
    return explaining->other_name == NULL || !id_file_is(explaining->other_name) ||
           !id_file_is(explaining->wanted_name);
}

static int run(void *values)
{
    struct explaining *explaining = values;
    ingot_storage_t storage = NULL;
    int code = needs_store(explaining) ? store_open(&storage, &explaining->common, STORE_READ, NULL) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    interrupt_catch();
    code = find_wanted(explaining, storage);
    if (code == EXIT_DONE)
        code = find_nearest(explaining, storage);
    if (code == EXIT_DONE)
        code = judge(explaining, storage);
    cJSON_Delete(explaining->differences);
    entry_fini(&explaining->nearest);
    entry_fini(&explaining->wanted);
    ingot_storage_release(storage);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .group = "Look into a store",
    .summary = "explain why an id would be a miss",
    .about = "Shows whether a program or an artifact with this id would be found, and if not, in which fields the "
             "nearest stored id differs. The nearest entry has the same sources, or is an artifact of the same kind, "
             "and then differs in the fewest fields. A different order of options hardly counts.",
    .options = options,
    .size = sizeof(struct explaining),
    .run = run,
};

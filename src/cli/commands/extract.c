/*
 * extract.c - `ingot extract`: writes the parts of artifacts to files.
 *
 * The names of parts come from the store and may be anything. Only relative paths below the folder are accepted, no
 * link is followed on the way, and no existing file is touched.
 */
#include <errno.h>
#include <ingot/artifact.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/folder.h"
#include "cli/base/interrupt.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "cli/commands/all.h"
#include "cli/store/entry.h"
#include "cli/store/id.h"
#include "cli/store/store.h"
#include "cli/usage/parse.h"

#define UNNAMED "value" /* the file of a part without a name */

struct extracting {
    struct common_options common;
    const char *output;
    const char *kind; /* extract all artifacts of this kind; NULL: the named entries */
    struct text_list names;
    ingot_storage_t storage;
    bool has_folders; /* true if every artifact gets its own folder */
    uint64_t artifact_count;
    uint64_t file_count;
    int code;
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_ENTRY, "ENTRY", offsetof(struct extracting, names), .flags = OPTION_REPEATED,
     .help = "The artifacts, by the names that \"ingot ls\" prints"},
    {"output", 'o', VALUE_FOLDER, "FOLDER", offsetof(struct extracting, output),
     .help = "The folder to write to, which is created if it is missing. Default: ."},
    {"kind", 'k', VALUE_TEXT, "KIND", offsetof(struct extracting, kind), .help = "Extract all artifacts of this kind"},
    {.help = NULL},
};

/* ---- files ---- */

static int fail_extracting(const char *doing, const char *name)
{
    const int error = errno;
    (void)fprintf(stderr, "ingot: %s ", doing);
    text_put(stderr, name, TEXT_ONE_LINE);
    (void)fprintf(stderr, ": %s\n", strerror(error));
    return EXIT_FAILED;
}

/* Creates the folders above a part and its file. */
static int write_part(int folder, const char *name, size_t size, const uint8_t *bytes)
{
    const char *file = NULL;
    if (!folder_is_path_below(name)) {
        errno = EINVAL;
        (void)fail_extracting("left out the part", name);
        return EXIT_FINDING;
    }
    const int at = folder_open_below(folder, name, true, &file);
    const int code =
        at >= 0 && folder_create_file(at, file, size, bytes) ? EXIT_DONE : fail_extracting("creating", name);
    if (at >= 0)
        (void)close(at);
    return code;
}

/* ---- artifacts ---- */

static int write_artifact_parts(struct extracting *extracting, int folder, const ingot_buffer_t *value)
{
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    size_t at = 0;
    int result = EXIT_DONE;
    (void)ingot_artifact_get_info(value, &info);
    for (size_t i = 0; i < info.part_count; ++i) {
        const ingot_artifact_part_t *part = &info.parts[i];
        const char *name = part->name[0] != '\0' ? part->name : UNNAMED;
        const int code = write_part(folder, name, (size_t)part->size, value->bytes + at);
        extracting->file_count += code == EXIT_DONE;
        result = code > result ? code : result;
        at += (size_t)part->size;
    }
    ++extracting->artifact_count;
    return result;
}

/* Opens the folder for an artifact, in the output folder or as that folder. */
static int open_artifact_folder(const struct extracting *extracting, const ingot_persist_entry_t *facts)
{
    char name[ENTRY_NAME_SIZE];
    const int output = folder_open_output(extracting->output);
    if (output < 0 || !extracting->has_folders)
        return output;
    entry_name(facts, name);
    for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(name, '/'))
        *slash = '-';
    const int folder = folder_open(output, name, true);
    const int error = errno;
    (void)close(output);
    errno = error;
    return folder;
}

static int extract_entry(struct extracting *extracting, const ingot_persist_entry_t *facts)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_status_t status = ingot_persist_load_entry(extracting->storage, facts, 0, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_artifact_unpack(facts->id_size, facts->id, &blob, &value);
    store_release_blob(&blob);
    if (status != INGOT_SUCCESS) {
        entry_tell_failure(facts, "left out", status);
        return EXIT_FINDING;
    }
    const int folder = open_artifact_folder(extracting, facts);
    const int code = folder >= 0 ? write_artifact_parts(extracting, folder, &value)
                                 : fail_extracting("opening the folder", extracting->output);
    if (folder >= 0)
        (void)close(folder);
    value.release(&value);
    return code;
}

static int extract_entry_of_kind(const ingot_persist_entry_t *facts, void *user)
{
    struct extracting *extracting = user;
    if (facts->status == INGOT_SUCCESS && id_is_of_kind(facts->id_size, facts->id, extracting->kind)) {
        const int code = extract_entry(extracting, facts);
        extracting->code = code > extracting->code ? code : extracting->code;
    }
    return 1;
}

static void extract_named_entry(struct extracting *extracting, const char *name)
{
    struct entry entry;
    int code = entry_find(&entry, extracting->storage, name);
    if (code == EXIT_DONE) {
        code = extract_entry(extracting, &entry.facts);
        entry_fini(&entry);
    }
    extracting->code = code > extracting->code ? code : extracting->code;
}

static void print_counts(const struct extracting *extracting)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "artifacts", extracting->artifact_count);
    json_add_u64(json, "files", extracting->file_count);
    output_print(json, extracting->common.is_json, "{artifacts} artifacts extracted, {files} files\n");
}

/* A store_user_t. */
static int extract_artifacts(ingot_storage_t storage, void *values)
{
    struct extracting *extracting = values;
    extracting->storage = storage;
    extracting->has_folders = extracting->kind != NULL || extracting->names.count > 1;
    for (size_t i = 0; i < extracting->names.count && !interrupt_seen(); ++i)
        extract_named_entry(extracting, extracting->names.items[i]);
    const int code = extracting->kind != NULL ? entry_visit_all(storage, extract_entry_of_kind, extracting) : EXIT_DONE;
    extracting->code = code > extracting->code ? code : extracting->code;
    print_counts(extracting);
    return extracting->code;
}

static int run_extract(void *values)
{
    struct extracting *extracting = values;
    if ((extracting->names.count == 0) == (extracting->kind == NULL))
        return parse_refuse(&command_extract, "name either entries, or a kind with --kind");
    if (extracting->output == NULL)
        extracting->output = ".";
    return store_use(&extracting->common, STORE_READ, extract_artifacts, extracting);
}

const struct command command_extract = {
    .name = "extract",
    .group = "Look into a store",
    .summary = "write the parts of artifacts to files",
    .about = "Writes the parts of the named artifacts, or of all artifacts of a kind, to files with the names of the "
             "parts. A part without a name is called \"" UNNAMED "\". Several artifacts get a folder each, which is "
             "named after the entry. Existing files are left unchanged, which is a failure. Parts whose names would "
             "lead out of the folder are left out, with exit status 1.\n\n"
             "Many frameworks store pickles, which can run any code when they are loaded.",
    .options = options,
    .size = sizeof(struct extracting),
    .run = run_extract,
};

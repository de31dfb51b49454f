/*
 * extract.c - `ingot recipe extract`: writes the sources of programs as files that a person can read and compile.
 *
 * A recipe may come from anywhere, so the names in it are not used as paths. Each file is new, is in a folder that this
 * process has just created, and has a name of plain characters only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/folder.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "cli/build/plan.h"
#include "cli/commands/all.h"
#include "cli/commands/recipe/describe.h"
#include "cli/store/store.h"

#define NOTES "program.txt"
/* Texts are shared by programs, so a small recipe may have large texts in each of thousands of programs. */
#define MAX_BYTES ((uint64_t)256 << 20)

enum { MOST_CHARACTERS = 120, FILE_NAME_SIZE = 160 };

struct extracting {
    struct common_options common;
    const char *path;
    const char *directory;
    struct text_list keys; /* of the programs to extract; none: all */
    ingot_recipe_t recipe;
    ingot_recipe_program_t *programs; /* those to extract */
    size_t program_count;
    uint64_t bytes; /* of their texts */
    size_t text_count;
    uint64_t done_count;
    int finding; /* EXIT_FINDING if a program is left out */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct extracting, path), .flags = OPTION_REQUIRED, .help = "The recipe"},
    {NULL, 0, VALUE_FOLDER, "DIR", offsetof(struct extracting, directory), .flags = OPTION_REQUIRED,
     .help = "The folder to write to, which is created if it is missing"},
    {NULL, 0, VALUE_TEXT, "KEY", offsetof(struct extracting, keys), .flags = OPTION_REPEATED,
     .help = "Programs, by the beginnings of their keys in hexadecimal digits. Default: all"},
    {.help = NULL},
};

static int fail_with_errno(const char *what, const char *path)
{
    (void)fprintf(stderr, "ingot: %s %s: %s\n", what, path, strerror(errno));
    return EXIT_FAILED;
}

/* ---- names of files ---- */

static const char *default_name(ingot_source_kind_t kind)
{
    switch (kind) {
    case INGOT_SOURCE_OPENCL_C: return "source.cl";
    case INGOT_SOURCE_SPIRV: return "module.spv";
    case INGOT_SOURCE_CUDA_CPP: return "source.cu";
    case INGOT_SOURCE_PTX: return "module.ptx";
    case INGOT_SOURCE_HEADER: return "header.h";
    default: return "source";
    }
}

static bool is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

/* Makes a name of at most 150 characters of [A-Za-z0-9._-], which does not begin with a dot or a dash and is not that
 * of the notes. All other characters become '_', including slashes. A text without a name is named after its kind. */
static void make_file_name(const char *name, ingot_source_kind_t kind, bool has_number, size_t number,
                           char file_name[FILE_NAME_SIZE])
{
    char plain[MOST_CHARACTERS + 1];
    size_t length = 0;
    const size_t name_length = strlen(name);
    /* keep the end of a long name, because the suffix is there */
    const char *from = name_length > MOST_CHARACTERS ? name + name_length - MOST_CHARACTERS : name;
    for (; *from != '\0'; ++from, ++length) {
        const bool is_kept = is_plain(*from) && (length != 0 || (*from != '.' && *from != '-'));
        plain[length] = is_kept ? *from : '_';
    }
    plain[length] = '\0';
    const char *chosen = length != 0 ? plain : default_name(kind);
    const bool is_taken = strcmp(chosen, NOTES) == 0;
    if (has_number)
        (void)snprintf(file_name, FILE_NAME_SIZE, "%zu-%s", number, chosen);
    else
        (void)snprintf(file_name, FILE_NAME_SIZE, "%s%s", is_taken ? "_" : "", chosen);
}

/* ---- the folder of a program ---- */

/* Writes a text, and adds the name of its file to its description. */
static int write_text(struct extracting *extracting, int folder, const ingot_recipe_text_t *text, cJSON *note)
{
    char name[FILE_NAME_SIZE];
    size_t size = 0;
    ingot_status_t status = ingot_recipe_get_text(extracting->recipe, text->text, &size, NULL);
    uint8_t *bytes = memory_get(size);
    if (status == INGOT_SUCCESS)
        status = ingot_recipe_get_text(extracting->recipe, text->text, &size, bytes);
    if (status != INGOT_SUCCESS) {
        free(bytes);
        return store_failed("reading a text", status);
    }
    make_file_name(text->name, text->kind, false, 0, name);
    bool is_written = folder_create_file(folder, name, size, bytes);
    if (!is_written && errno == EEXIST) { /* another text already has this name */
        make_file_name(text->name, text->kind, true, extracting->text_count, name);
        is_written = folder_create_file(folder, name, size, bytes);
    }
    ++extracting->text_count;
    json_add_text(note, "file", name);
    json_add_text(note, "other_name", strcmp(text->name, name) != 0 ? text->name : "");
    free(bytes);
    return is_written ? EXIT_DONE : fail_with_errno("writing", name);
}

/* `notes` is the list of the texts' descriptions. */
static int write_texts(struct extracting *extracting, int folder, size_t count, const ingot_recipe_text_t *texts,
                       const cJSON *notes)
{
    int code = EXIT_DONE;
    cJSON *note = count != 0 ? notes->child : NULL;
    for (size_t i = 0; i < count && code == EXIT_DONE; ++i, note = note->next) {
        code = write_text(extracting, folder, &texts[i], note);
        if (code == EXIT_DONE)
            code = write_texts(extracting, folder, texts[i].header_count, texts[i].headers,
                               cJSON_GetObjectItem(note, "headers"));
    }
    return code;
}

#define ABOUT_FILE ": {file}[other_name?, named {other_name}][compile_options?, with the options {compile_options}]\n"

static const char pattern[] = "key: {key}\n"
                              "kind: {kind}\n"
                              "[backend?backend: {backend}\n]"
                              "[built_for?built for: {built_for}\n]"
                              "[compile_options?compile options: {compile_options}\n]"
                              "[link_options?link options: {link_options}\n]"
                              "<name_expressions*name expression: {}\n>"
                              "<spec_constants*specialization constant {id}: {bytes} bytes\n>"
                              "<sources*source" ABOUT_FILE "<headers*header of this source" ABOUT_FILE ">>"
                              "<headers*header" ABOUT_FILE ">"
                              "<files*included file" ABOUT_FILE ">";

static int write_program(struct extracting *extracting, int folder, const ingot_recipe_program_t *program)
{
    cJSON *json = recipe_details_to_json(program);
    extracting->text_count = 0;
    int code =
        write_texts(extracting, folder, program->source_count, program->sources, cJSON_GetObjectItem(json, "sources"));
    if (code == EXIT_DONE)
        code = write_texts(extracting, folder, program->header_count, program->headers,
                           cJSON_GetObjectItem(json, "headers"));
    if (code == EXIT_DONE)
        code = write_texts(extracting, folder, program->file_count, program->files, cJSON_GetObjectItem(json, "files"));
    char *notes = output_text(pattern, json);
    if (code == EXIT_DONE && !folder_create_file(folder, NOTES, strlen(notes), notes))
        code = fail_with_errno("writing", NOTES);
    free(notes);
    cJSON_Delete(json);
    return code;
}

/* ---- the programs ---- */

/* Adds a program to those to extract, unless the recipe does not have it as a whole. */
static void add_program_to_extract(struct extracting *extracting, const ingot_recipe_program_t *program)
{
    char key[PLAN_KEY_TEXT_SIZE];
    if (program->status != INGOT_SUCCESS) {
        (void)fprintf(stderr, "ingot: %.*s was not extracted: %s: ", PLAN_SHORT_KEY, plan_key_text(program->key, key),
                      ingot_status_name(program->status));
        text_put(stderr, program->reason, TEXT_ONE_LINE);
        (void)fputc('\n', stderr);
        extracting->finding = EXIT_FINDING;
        return;
    }
    extracting->programs = memory_grow(extracting->programs, extracting->program_count, sizeof(*extracting->programs));
    extracting->programs[extracting->program_count++] = *program;
    extracting->bytes += recipe_text_bytes(program);
}

/* Chooses the programs with the given keys, or all but those that could not be recorded at all. */
static void choose_programs(struct extracting *extracting, uint64_t program_count)
{
    ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
    for (size_t i = 0; i < extracting->keys.count; ++i) {
        if (plan_find_program(extracting->recipe, extracting->keys.items[i], &program) == EXIT_DONE)
            add_program_to_extract(extracting, &program);
        else
            extracting->finding = EXIT_FINDING;
    }
    for (uint64_t i = 0; i < program_count && extracting->keys.count == 0; ++i) {
        if (ingot_recipe_get_program(extracting->recipe, (size_t)i, &program) == INGOT_SUCCESS &&
            program.kind != INGOT_RECIPE_UNRECORDED)
            add_program_to_extract(extracting, &program);
    }
}

/* Writes each program into a new folder, whose name is the beginning of the program's key. */
static int extract_programs(struct extracting *extracting)
{
    const int directory = folder_open_output(extracting->directory);
    int code = directory >= 0 ? EXIT_DONE : fail_with_errno("creating the folder", extracting->directory);
    if (code == EXIT_DONE && extracting->bytes > MAX_BYTES) {
        (void)fputs("ingot: the programs have more than 256 MiB of texts: extract some of them, by their keys\n",
                    stderr);
        code = EXIT_FAILED;
    }
    for (size_t i = 0; i < extracting->program_count && code == EXIT_DONE; ++i) {
        char key[PLAN_KEY_TEXT_SIZE];
        plan_key_text(extracting->programs[i].key, key);
        key[PLAN_SHORT_KEY] = '\0';
        const int folder = folder_make(directory, key);
        code = folder >= 0 ? write_program(extracting, folder, &extracting->programs[i])
                           : fail_with_errno("creating the folder", key);
        if (folder >= 0)
            (void)close(folder);
        extracting->done_count += code == EXIT_DONE;
    }
    if (directory >= 0)
        (void)close(directory);
    return code;
}

static int run_recipe_extract(void *values)
{
    struct extracting *extracting = values;
    ingot_recipe_summary_t summary;
    int code = plan_open_recipe(&extracting->recipe, &summary, extracting->path, NULL);
    if (code == EXIT_DONE) {
        choose_programs(extracting, summary.program_count);
        code = extract_programs(extracting);
    }
    if (code != EXIT_DONE)
        return code;
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "extracted", extracting->done_count);
    output_print(json, extracting->common.is_json, "{extracted} programs extracted\n");
    return extracting->finding;
}

const struct command command_recipe_extract = {
    .name = "recipe extract",
    .group = "Run and build",
    .summary = "write the sources of a recipe's programs to files",
    .about = "Writes the sources, headers and included files of each program into a new folder DIR/KEY. The file "
             "program.txt in that folder has the options and describes each file. At most 256 MiB of texts are "
             "extracted at once.\n\n"
             "The exit status is 1 if programs were left out because a text is missing or too large.",
    .options = options,
    .size = sizeof(struct extracting),
    .run = run_recipe_extract,
};

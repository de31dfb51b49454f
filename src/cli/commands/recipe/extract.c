/*
 * extract.c - `ingot recipe extract`: writes the sources of programs as files that a person can read and compile.
 *
 * A recipe may come from anywhere, so the names in it are not used as paths. Each file is new, is in a folder that this
 * process has just created, and has a name of plain characters only.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "cli/commands/recipe/file_name.h"
#include "cli/store/store.h"

/* Texts are shared by programs, so a small recipe may have large texts in each of thousands of programs. */
#define MAX_BYTES ((uint64_t)256 << 20)

struct extracting {
    struct common_options common;
    const char *path;
    const char *directory;
    struct text_list keys; /* of the programs to extract; none: all */
};

/* What is extracted, and how much so far. */
struct extraction {
    ingot_recipe_t recipe;
    int directory;
    uint64_t done_count; /* programs */
    uint64_t bytes;      /* of the texts of these programs */
};

/* The folder of one program. */
struct folder {
    struct extraction *extraction;
    int fd;
    FILE *notes; /* program.txt */
    size_t file_count;
};

static int fail(const char *what, const char *path)
{
    (void)fprintf(stderr, "ingot: %s %s: %s\n", what, path, strerror(errno));
    return EXIT_FAILED;
}

/* Writes a note about the file, on one line. */
static void note(const struct folder *folder, const char *role, const char *file_name, const ingot_recipe_text_t *text)
{
    char *name = text_in_one_line(text->name);
    char *options = text_in_one_line(text->compile_options);
    (void)fprintf(folder->notes, "%s: %s", role, file_name);
    if (name[0] != '\0' && strcmp(name, file_name) != 0)
        (void)fprintf(folder->notes, ", named %s", name);
    if (options[0] != '\0')
        (void)fprintf(folder->notes, ", with the options %s", options);
    (void)fputc('\n', folder->notes);
    free(options);
    free(name);
}

static int write_text(struct folder *folder, const char *role, const ingot_recipe_text_t *text)
{
    char name[FILE_NAME_SIZE];
    size_t size = 0;
    const ingot_recipe_t recipe = folder->extraction->recipe;
    ingot_status_t status = ingot_recipe_get_text(recipe, text->text, &size, NULL);
    uint8_t *bytes = memory_get(size);
    if (status == INGOT_SUCCESS)
        status = ingot_recipe_get_text(recipe, text->text, &size, bytes);
    if (status != INGOT_SUCCESS) {
        free(bytes);
        return store_failed("reading a text", status);
    }
    file_name_make(text->name, text->kind, false, 0, name);
    int fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) { /* another text already has this name */
        file_name_make(text->name, text->kind, true, folder->file_count, name);
        fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    int code = fd >= 0 ? EXIT_DONE : fail("creating", name);
    if (fd >= 0 && !folder_write(fd, size, bytes))
        code = fail("writing", name);
    if (fd >= 0 && close(fd) != 0 && code == EXIT_DONE)
        code = fail("writing", name);
    ++folder->file_count;
    note(folder, role, name, text);
    free(bytes);
    return code;
}

static int write_texts(struct folder *folder, const char *role, size_t count, const ingot_recipe_text_t *texts)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < count && code == EXIT_DONE; ++i) {
        code = write_text(folder, role, &texts[i]);
        if (code == EXIT_DONE)
            code = write_texts(folder, "header of this source", texts[i].header_count, texts[i].headers);
    }
    return code;
}

static void note_text(const struct folder *folder, const char *what, const char *text)
{
    char *line = text_in_one_line(text);
    if (line[0] != '\0')
        (void)fprintf(folder->notes, "%s: %s\n", what, line);
    free(line);
}

static void note_program(const struct folder *folder, const ingot_recipe_program_t *program)
{
    char key[PLAN_KEY_TEXT_SIZE];
    note_text(folder, "key", plan_key_text(program->key, key));
    note_text(folder, "kind", plan_kind_name(program->kind));
    note_text(folder, "backend", program->backend);
    note_text(folder, "built for", program->built_for);
    note_text(folder, "compile options", program->compile_options);
    note_text(folder, "link options", program->link_options);
    for (size_t i = 0; i < program->name_expression_count; ++i)
        note_text(folder, "name expression", program->name_expressions[i]);
    for (size_t i = 0; i < program->spec_constant_count; ++i)
        (void)fprintf(folder->notes, "specialization constant %" PRIu32 ": %" PRIu32 " bytes\n",
                      program->spec_constants[i].id, program->spec_constants[i].size);
}

static int fill(struct folder *folder, const ingot_recipe_program_t *program)
{
    const int fd = openat(folder->fd, "program.txt", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    folder->notes = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (folder->notes == NULL)
        return fail("creating", "program.txt");
    note_program(folder, program);
    int code = write_texts(folder, "source", program->source_count, program->sources);
    if (code == EXIT_DONE)
        code = write_texts(folder, "header", program->header_count, program->headers);
    if (code == EXIT_DONE)
        code = write_texts(folder, "included file", program->file_count, program->files);
    const bool is_written = fflush(folder->notes) == 0 && ferror(folder->notes) == 0;
    if ((fclose(folder->notes) != 0 || !is_written) && code == EXIT_DONE)
        code = fail("writing", "program.txt");
    return code;
}

/* Adds the sizes of texts and of their headers. Stops at MAX_BYTES. */
static void add_sizes(ingot_recipe_t recipe, size_t count, const ingot_recipe_text_t *texts, uint64_t *bytes)
{
    for (size_t i = 0; i < count && *bytes <= MAX_BYTES; ++i) {
        size_t size = 0;
        if (ingot_recipe_get_text(recipe, texts[i].text, &size, NULL) == INGOT_SUCCESS)
            *bytes += size;
        add_sizes(recipe, texts[i].header_count, texts[i].headers, bytes);
    }
}

/* Adds the sizes of a program's texts to the extraction. Reports it if they become too much. */
static int add_program(struct extraction *extraction, const ingot_recipe_program_t *program)
{
    add_sizes(extraction->recipe, program->source_count, program->sources, &extraction->bytes);
    add_sizes(extraction->recipe, program->header_count, program->headers, &extraction->bytes);
    add_sizes(extraction->recipe, program->file_count, program->files, &extraction->bytes);
    if (extraction->bytes <= MAX_BYTES)
        return EXIT_DONE;
    (void)fputs("ingot: the programs have more than 256 MiB of texts: extract some of them, by their keys\n", stderr);
    return EXIT_FAILED;
}

/* Writes a program into a new folder, whose name is the beginning of the program's key. */
static int extract(struct extraction *extraction, const ingot_recipe_program_t *program)
{
    char key[PLAN_KEY_TEXT_SIZE];
    plan_key_text(program->key, key);
    key[PLAN_SHORT_KEY] = '\0';
    struct folder folder = {.extraction = extraction, .fd = folder_make(extraction->directory, key)};
    if (folder.fd < 0)
        return fail("creating the folder", key);
    const int code = fill(&folder, program);
    (void)close(folder.fd);
    extraction->done_count += code == EXIT_DONE;
    return code;
}

/* Reports a program that the recipe does not have as a whole. Returns EXIT_FINDING. */
static int tell_left_out(const ingot_recipe_program_t *program)
{
    char key[PLAN_KEY_TEXT_SIZE];
    char *reason = text_in_one_line(program->reason);
    (void)fprintf(stderr, "ingot: %.*s was not extracted: %s: %s\n", PLAN_SHORT_KEY, plan_key_text(program->key, key),
                  ingot_status_name(program->status), reason);
    free(reason);
    return EXIT_FINDING;
}

/* Extracts all programs but those that could not be recorded at all. Returns EXIT_FINDING if another one was left
 * out. */
static int extract_all(struct extraction *extraction, uint64_t program_count)
{
    int code = EXIT_DONE;
    int finding = EXIT_DONE;
    for (uint64_t i = 0; i < program_count && code == EXIT_DONE; ++i) {
        ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
        if (ingot_recipe_get_program(extraction->recipe, (size_t)i, &program) == INGOT_SUCCESS &&
            program.status == INGOT_SUCCESS)
            code = add_program(extraction, &program);
    }
    for (uint64_t i = 0; i < program_count && code == EXIT_DONE; ++i) {
        ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
        if (ingot_recipe_get_program(extraction->recipe, (size_t)i, &program) != INGOT_SUCCESS ||
            program.status != INGOT_SUCCESS) {
            if (program.kind != INGOT_RECIPE_UNRECORDED)
                finding = tell_left_out(&program);
            continue;
        }
        code = extract(extraction, &program);
    }
    return code == EXIT_DONE ? finding : code;
}

/* Extracts the programs with these keys. Returns EXIT_FINDING if one was left out or is not there. */
static int extract_chosen(struct extraction *extraction, size_t count, char **keys)
{
    int code = EXIT_DONE;
    int finding = EXIT_DONE;
    for (size_t i = 0; i < count && code == EXIT_DONE; ++i) {
        ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
        if (plan_find_program(extraction->recipe, keys[i], &program) != EXIT_DONE) {
            finding = EXIT_FINDING;
            continue;
        }
        if (program.status != INGOT_SUCCESS) {
            finding = tell_left_out(&program);
            continue;
        }
        code = add_program(extraction, &program);
        if (code == EXIT_DONE)
            code = extract(extraction, &program);
    }
    return code == EXIT_DONE ? finding : code;
}

static const struct command_option options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct extracting, path), .flags = OPTION_REQUIRED, .help = "The recipe"},
    {NULL, 0, VALUE_FOLDER, "DIR", offsetof(struct extracting, directory), .flags = OPTION_REQUIRED,
     .help = "The folder to write to, which is created if it is missing"},
    {NULL, 0, VALUE_TEXT, "KEY", offsetof(struct extracting, keys), .flags = OPTION_REPEATED,
     .help = "Programs, by the beginnings of their keys in hexadecimal digits. Default: all"},
    {.help = NULL},
};

static int run(void *values)
{
    const struct extracting *request = values;
    ingot_recipe_summary_t summary;
    struct extraction extraction = {.directory = -1};
    const char *directory = request->directory;
    int code = plan_open_recipe(&extraction.recipe, &summary, request->path, NULL);
    if (code == EXIT_DONE && (extraction.directory = folder_open_output(directory)) < 0)
        code = fail("creating the folder", directory);
    if (code == EXIT_DONE)
        code = request->keys.count == 0 ? extract_all(&extraction, summary.program_count)
                                        : extract_chosen(&extraction, request->keys.count, request->keys.items);
    if (extraction.directory >= 0)
        (void)close(extraction.directory);
    ingot_recipe_release(extraction.recipe);
    if (code != EXIT_DONE && code != EXIT_FINDING)
        return code;
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "extracted", extraction.done_count);
    output_print(json, request->common.is_json, "{extracted} programs extracted\n");
    return code;
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
    .run = run,
};

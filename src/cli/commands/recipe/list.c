/*
 * list.c - `ingot recipe list` lists the programs of recipes; `ingot recipe show` shows all about some of them.
 */
#include <stdio.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/table.h"
#include "cli/base/text.h"
#include "cli/build/plan.h"
#include "cli/commands/all.h"

/* ---- list -------------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(size_t count, const ingot_recipe_text_t *texts)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
        bytes += texts[i].size + bytes_of(texts[i].header_count, texts[i].headers);
    return bytes;
}

/* Returns the size of all texts of a program in bytes. */
static uint64_t text_bytes_of(const ingot_recipe_program_t *program)
{
    return bytes_of(program->source_count, program->sources) + bytes_of(program->header_count, program->headers) +
           bytes_of(program->file_count, program->files);
}

static cJSON *program_to_json(const ingot_recipe_program_t *program)
{
    char key[PLAN_KEY_TEXT_SIZE];
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "key", plan_key_text(program->key, key));
    json_add_text(json, "kind", plan_kind_name(program->kind));
    json_add_text(json, "status", ingot_status_name(program->status));
    json_add_text(json, "reason", program->reason);
    json_add_text(json, "name", program->name);
    json_add_text(json, "backend", program->backend);
    json_add_text(json, "group", program->group);
    json_add_text(json, "built_for", program->built_for);
    json_add_u64(json, "build_time_ns", program->build_time_ns);
    json_add_u64(json, "text_bytes", text_bytes_of(program));
    return json;
}

/* The values of `list` and of `show`. */
struct listing {
    struct common_options common;
    const char *path;      /* of the recipe to show */
    struct text_list rest; /* the recipes to list, or the keys of the programs to show */
};

static const struct command_option list_options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct listing, rest), .flags = OPTION_REQUIRED | OPTION_REPEATED,
     .help = "The recipes"},
    {.help = NULL},
};

static int list(void *values)
{
    const struct listing *listing = values;
    static const struct table_column columns[] = {{"KEY", "{key:short}", false},
                                                  {"KIND", "{kind}", false},
                                                  {"BUILD", "[build_time_ns?{build_time_ns:duration}]", true},
                                                  {"SIZE", "{text_bytes:size}", true},
                                                  {"BACKEND", "{backend}", false},
                                                  {"NAME", "{name}", false},
                                                  {"BUILT FOR", "{built_for}", false},
                                                  {"PROBLEM", "{reason}", false}};
    struct plan plan;
    const int code = plan_open(&plan, listing->rest.count, listing->rest.items, NULL);
    cJSON *json = cJSON_CreateArray();
    for (size_t i = 0; i < plan.program_count && code == EXIT_DONE; ++i)
        (void)cJSON_AddItemToArray(json, program_to_json(&plan.programs[i].facts));
    if (code == EXIT_DONE)
        table_report(json, listing->common.is_json, sizeof(columns) / sizeof(columns[0]), columns);
    else
        cJSON_Delete(json);
    plan_close(&plan);
    return code;
}

const struct command command_recipe_list = {
    .name = "recipe list",
    .group = "Run and build",
    .summary = "list the programs of recipes",
    .about = "Lists the distinct programs of recipes, the most expensive first, with the beginning of the key, and the "
             "reason for each program that cannot be built.",
    .options = list_options,
    .size = sizeof(struct listing),
    .run = list,
};

/* ---- show -------------------------------------------------------------------------------------------------------- */

static const char *kind_name(ingot_source_kind_t kind)
{
    switch (kind) {
    case INGOT_SOURCE_OPENCL_C: return "opencl_c";
    case INGOT_SOURCE_SPIRV: return "spirv";
    case INGOT_SOURCE_CUDA_CPP: return "cuda_cpp";
    case INGOT_SOURCE_PTX: return "ptx";
    case INGOT_SOURCE_HEADER: return "header";
    default: return kind >= INGOT_SOURCE_OWN_BINARY ? "own_binary" : "own_text";
    }
}

static cJSON *texts_to_json(size_t count, const ingot_recipe_text_t *texts)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < count; ++i) {
        cJSON *json = cJSON_CreateObject();
        json_add_text(json, "kind", kind_name(texts[i].kind));
        json_add_text(json, "name", texts[i].name);
        json_add_u64(json, "bytes", texts[i].size);
        if (texts[i].compile_options[0] != '\0')
            json_add_text(json, "compile_options", texts[i].compile_options);
        if (texts[i].header_count != 0)
            (void)cJSON_AddItemToObject(json, "headers", texts_to_json(texts[i].header_count, texts[i].headers));
        (void)cJSON_AddItemToArray(list, json);
    }
    return list;
}

static cJSON *constants_to_json(const ingot_recipe_program_t *program)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < program->spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &program->spec_constants[i];
        const uint8_t *value = constant->value;
        char digits[2 * sizeof(uint64_t) + 1] = "";
        for (uint32_t j = 0; j < constant->size && j < sizeof(uint64_t); ++j) /* as a number: last byte first */
            (void)snprintf(digits + (size_t)2 * j, 3, "%02x", value[constant->size - 1 - j]);
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "id", constant->id);
        json_add_u64(json, "bytes", constant->size);
        json_add_text(json, "value", digits);
        (void)cJSON_AddItemToArray(list, json);
    }
    return list;
}

static cJSON *details_to_json(const ingot_recipe_program_t *program)
{
    cJSON *json = program_to_json(program);
    cJSON *expressions = cJSON_CreateArray();
    cJSON *kernels = cJSON_CreateArray();
    for (size_t i = 0; i < program->kernel_count; ++i)
        (void)cJSON_AddItemToArray(kernels, cJSON_CreateString(program->kernels[i]));
    for (size_t i = 0; i < program->name_expression_count; ++i)
        (void)cJSON_AddItemToArray(expressions, cJSON_CreateString(program->name_expressions[i]));
    json_add_text(json, "compile_options", program->compile_options);
    json_add_text(json, "link_options", program->link_options);
    (void)cJSON_AddItemToObject(json, "sources", texts_to_json(program->source_count, program->sources));
    (void)cJSON_AddItemToObject(json, "headers", texts_to_json(program->header_count, program->headers));
    (void)cJSON_AddItemToObject(json, "files", texts_to_json(program->file_count, program->files));
    (void)cJSON_AddItemToObject(json, "spec_constants", constants_to_json(program));
    (void)cJSON_AddItemToObject(json, "name_expressions", expressions);
    (void)cJSON_AddItemToObject(json, "kernels", kernels);
    return json;
}

/* Prints the members of a JSON object, and of all objects and lists in it, one per line. */
static void print_members(const cJSON *json, unsigned indent)
{
    for (const cJSON *each = json->child; each != NULL; each = each->next) {
        const bool is_list = cJSON_IsArray(each) || cJSON_IsObject(each);
        if ((is_list && each->child == NULL) || (cJSON_IsString(each) && each->valuestring[0] == '\0'))
            continue;
        (void)printf("%*s%s", (int)indent, "", each->string != NULL ? each->string : "-");
        if (is_list) {
            (void)putchar('\n');
            print_members(each, indent + 2);
        } else {
            char *value = cJSON_IsString(each) ? NULL : cJSON_PrintUnformatted(each);
            (void)fputs(each->string != NULL ? ": " : " ", stdout);
            text_put(stdout, value != NULL ? value : each->valuestring, indent + 2);
            (void)putchar('\n');
            cJSON_free(value);
        }
    }
}

static cJSON *summary_to_json(const ingot_recipe_summary_t *summary)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "programs", summary->program_count);
    json_add_u64(json, "texts", summary->text_count);
    json_add_u64(json, "text_bytes", summary->text_bytes);
    json_add_u64(json, "file_bytes", summary->file_bytes);
    json_add_u64(json, "damaged_records", summary->damaged_count);
    json_add_u64(json, "torn_bytes", summary->torn_bytes);
    json_add_u64(json, "seals", summary->seal_count);
    return json;
}

/* Adds the programs with the given keys to the list. */
static int collect(const struct text_list *keys, ingot_recipe_t recipe, cJSON *json)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < keys->count && code == EXIT_DONE; ++i) {
        ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
        code = plan_find_program(recipe, keys->items[i], &program);
        if (code == EXIT_DONE)
            (void)cJSON_AddItemToArray(json, details_to_json(&program));
    }
    return code;
}

static const struct command_option show_options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct listing, path), .flags = OPTION_REQUIRED, .help = "The recipe"},
    {NULL, 0, VALUE_TEXT, "KEY", offsetof(struct listing, rest), .flags = OPTION_REPEATED,
     .help = "Programs, by the beginnings of their keys in hexadecimal digits"},
    {.help = NULL},
};

static int show(void *values)
{
    const struct listing *listing = values;
    ingot_recipe_t recipe = NULL;
    ingot_recipe_summary_t summary;
    int code = plan_open_recipe(&recipe, &summary, listing->path, NULL);
    if (code != EXIT_DONE)
        return code;
    const bool is_whole = listing->rest.count == 0;
    cJSON *json = is_whole ? summary_to_json(&summary) : cJSON_CreateArray();
    code = collect(&listing->rest, recipe, json);
    ingot_recipe_release(recipe);
    if (code == EXIT_DONE && listing->common.is_json) {
        json_print(json);
        return code;
    }
    if (code == EXIT_DONE && is_whole)
        print_members(json, 0);
    for (const cJSON *each = is_whole ? NULL : json->child; each != NULL && code == EXIT_DONE; each = each->next)
        print_members(each, 0);
    cJSON_Delete(json);
    return code;
}

const struct command command_recipe_show = {
    .name = "recipe show",
    .group = "Run and build",
    .summary = "show a recipe or its programs",
    .about = "Shows how many programs and texts a recipe has, or all details of programs.",
    .options = show_options,
    .size = sizeof(struct listing),
    .run = show,
};

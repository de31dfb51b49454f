/*
 * describe.c - describes the programs of recipes as JSON; see describe.h.
 */
#include "cli/commands/recipe/describe.h"

#include <stdio.h>

#include "cli/base/json.h"
#include "cli/build/plan.h"

static uint64_t count_text_bytes(size_t count, const ingot_recipe_text_t *texts)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
        bytes += texts[i].size + count_text_bytes(texts[i].header_count, texts[i].headers);
    return bytes;
}

uint64_t recipe_text_bytes(const ingot_recipe_program_t *program)
{
    return count_text_bytes(program->source_count, program->sources) +
           count_text_bytes(program->header_count, program->headers) +
           count_text_bytes(program->file_count, program->files);
}

cJSON *recipe_program_to_json(const ingot_recipe_program_t *program)
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
    json_add_u64(json, "text_bytes", recipe_text_bytes(program));
    return json;
}

static const char *source_kind_name(ingot_source_kind_t kind)
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
        json_add_text(json, "kind", source_kind_name(texts[i].kind));
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

cJSON *recipe_details_to_json(const ingot_recipe_program_t *program)
{
    cJSON *json = recipe_program_to_json(program);
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

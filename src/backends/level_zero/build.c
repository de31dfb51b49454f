/*
 * build.c - compiles and links a program.
 *
 * One source becomes one module. If the driver can link sources (ZE_experimental_module_program), several sources
 * also become one module. Otherwise each source becomes a module, and the modules are linked dynamically. A driver
 * accepts a module with unresolved imports, and refuses its kernels only when they are created. This backend fails
 * the build instead.
 */
#include "backends/level_zero/program.h"

#include <string.h>

#define LIBRARY_FLAG "-library-compilation" /* lets other modules call this module's functions (Intel) */

/* A request's constants in the form that the driver takes: for each source, the constants that this source has, because
 * a driver refuses a module that gets another one, without a message. Each value has eight bytes, because drivers read
 * eight, even if the constant is smaller. */
struct spec_constants {
    size_t size;                            /* of the block with all of the following */
    uint64_t *storage;                      /* a value per constant; NULL: the request has no constants */
    ze_module_constants_t *of_source;       /* one per source */
    const ze_module_constants_t **pointers; /* to the elements of `of_source` */
    const void **values;                    /* one per constant of each source */
    uint32_t *ids;
};

/* The state of a build. */
struct job {
    const struct level_zero_state *state;
    const ingot_build_request_t *request;
    size_t module_count;
    struct level_zero_text flags;
    struct spec_constants constants;
    ingot_sink_t *log;
};

/* Returns the status of a call that compiles or links, and sets the error detail if it failed. If the compiler refuses
 * a program once, it always refuses it, and no other failure is certain to repeat itself. So a refusal has its own
 * status, INGOT_BUILD_FAILED. Copies the native log to `log`, and destroys the native log. After a refusal, also writes
 * the error to `log`, because the driver logs nothing for some refusals. */
static ingot_status_t conclude(const struct level_zero_state *state, const char *call, ze_result_t result,
                               ze_module_build_log_handle_t native_log, ingot_sink_t *log)
{
    struct level_zero_text text = {NULL, 0};
    ingot_status_t status = level_zero_take_log_text(state, native_log, &text);
    if (status == INGOT_SUCCESS && text.chars != NULL)
        status = ingot_sink_write_log(log, text.chars);
    level_zero_text_fini(state, &text);
    if (result == ZE_RESULT_SUCCESS)
        return status;
    switch (result) {
    case ZE_RESULT_ERROR_MODULE_BUILD_FAILURE:
    case ZE_RESULT_ERROR_MODULE_LINK_FAILURE:
        return ingot_refuse_program(log, (int64_t)result, "%s: %s (0x%x)", call, level_zero_result_name(result),
                                    (unsigned)result);
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE: /* there is no compiler */
        return level_zero_fail(INGOT_UNIMPLEMENTED, call, result);
    default: return level_zero_fail(INGOT_BACKEND_ERROR, call, result);
    }
}

/* Converts the constants of a request that ingot_spirv_check_request has accepted. The caller must call
 * spec_constants_fini, even after a failure. */
static ingot_status_t spec_constants_init(const struct level_zero_state *state, const ingot_build_request_t *request,
                                          struct spec_constants *constants)
{
    const size_t sources = request->source_count;
    const size_t count = request->spec_constant_count;
    *constants = (struct spec_constants){.storage = NULL};
    if (count == 0)
        return INGOT_SUCCESS;
    constants->size = count * sizeof(*constants->storage) +
                      sources * (sizeof(*constants->of_source) + sizeof(*constants->pointers) +
                                 count * (sizeof(*constants->values) + sizeof(*constants->ids)));
    constants->storage = ingot_allocate(&state->allocator, constants->size);
    if (constants->storage == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu specialization constants", count);
    constants->of_source = (ze_module_constants_t *)(constants->storage + count);
    constants->pointers = (const ze_module_constants_t **)(constants->of_source + sources);
    constants->values = (const void **)(constants->pointers + sources);
    constants->ids = (uint32_t *)(constants->values + sources * count);
    for (size_t i = 0; i < count; ++i)
        memcpy(&constants->storage[i], request->spec_constants[i].value, request->spec_constants[i].size);
    for (size_t source = 0; source < request->source_count; ++source) {
        ze_module_constants_t *own = &constants->of_source[source];
        uint32_t *ids = constants->ids + source * count;
        const void **values = constants->values + source * count;
        for (size_t i = 0; i < count; ++i) {
            const uint32_t id = request->spec_constants[i].id;
            if (!ingot_spirv_has_spec_constant(&request->sources[source], id))
                continue;
            ids[own->numConstants] = id;
            values[own->numConstants] = &constants->storage[i];
            ++own->numConstants;
        }
        own->pConstantIds = ids;
        own->pConstantValues = values;
        constants->pointers[source] = own;
    }
    return INGOT_SUCCESS;
}

static void spec_constants_fini(const struct level_zero_state *state, struct spec_constants *constants)
{
    ingot_deallocate(&state->allocator, constants->storage, constants->size);
}

ingot_status_t level_zero_build_flags(const struct level_zero_state *state, const char *compile_options,
                                      const char *link_options, const char *more, struct level_zero_text *flags)
{
    const char *const parts[] = {compile_options, link_options, more};
    const size_t count = sizeof(parts) / sizeof(parts[0]);
    char *end = NULL;
    flags->size = 1;
    for (size_t i = 0; i < count; ++i)
        flags->size += strlen(parts[i]) + 1;
    flags->chars = ingot_allocate(&state->allocator, flags->size);
    if (flags->chars == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of options", flags->size);
    end = flags->chars;
    for (size_t i = 0; i < count; ++i) {
        const size_t length = strlen(parts[i]);
        if (length > 0 && end != flags->chars)
            *end++ = ' ';
        memcpy(end, parts[i], length);
        end += length;
    }
    return INGOT_SUCCESS;
}

static ingot_status_t create_module(const struct job *job, uint32_t device_index, const ze_module_desc_t *desc,
                                    ze_module_handle_t *module)
{
    ze_module_build_log_handle_t log = NULL;
    const ze_result_t result =
        zeModuleCreate(job->state->context, job->state->devices[device_index], desc, module, &log);
    if (result != ZE_RESULT_SUCCESS)
        *module = NULL;
    return conclude(job->state, "zeModuleCreate", result, log, job->log);
}

static ingot_status_t create_module_of_source(const struct job *job, size_t source, uint32_t device_index,
                                              ze_module_handle_t *module)
{
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
        .inputSize = job->request->sources[source].size,
        .pInputModule = job->request->sources[source].bytes,
        .pBuildFlags = job->flags.chars,
        .pConstants = job->constants.of_source != NULL ? &job->constants.of_source[source] : NULL,
    };
    return create_module(job, device_index, &desc, module);
}

/* Creates one module from all sources. The driver takes arrays with one element per source. */
static ingot_status_t create_module_of_all_sources(const struct job *job, uint32_t device_index,
                                                   ze_module_handle_t *module)
{
    const ingot_allocator_t *allocator = &job->state->allocator;
    const size_t count = job->request->source_count;
    const size_t size = count * (sizeof(size_t) + sizeof(uint8_t *) + sizeof(char *));
    size_t *sizes = ingot_allocate(allocator, size);
    if (sizes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu sources", count);
    const uint8_t **bytes = (const uint8_t **)(sizes + count);
    const char **flags = (const char **)(bytes + count);
    for (size_t i = 0; i < count; ++i) {
        sizes[i] = job->request->sources[i].size;
        bytes[i] = job->request->sources[i].bytes;
        flags[i] = job->flags.chars;
    }
    const ze_module_program_exp_desc_t program = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
        .count = (uint32_t)count,
        .inputSizes = sizes,
        .pInputModules = bytes,
        .pBuildFlags = flags,
        .pConstants = job->constants.pointers,
    };
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .pNext = &program,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
    };
    const ingot_status_t status = create_module(job, device_index, &desc, module);
    ingot_deallocate(allocator, sizes, size);
    return status;
}

static ingot_status_t refuse_imports(const struct job *job, ze_module_handle_t module)
{
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    const ze_result_t result = zeModuleGetProperties(module, &properties);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleGetProperties", result);
    if ((properties.flags & ZE_MODULE_PROPERTY_FLAG_IMPORTS) == 0)
        return INGOT_SUCCESS;
    return ingot_refuse_program(job->log, 0, "a function or variable is declared, but no module defines it");
}

/* Only the log of a failure is kept, because the log of a success contains addresses, which differ in every process. */
ingot_status_t level_zero_link_modules(const struct level_zero_state *state, size_t count, ze_module_handle_t *modules,
                                       ingot_sink_t *log)
{
    ze_module_build_log_handle_t native_log = NULL;
    const ze_result_t result = zeModuleDynamicLink((uint32_t)count, modules, &native_log);
    if (result != ZE_RESULT_SUCCESS && log != NULL)
        return conclude(state, "zeModuleDynamicLink", result, native_log, log);
    if (native_log != NULL)
        (void)zeModuleBuildLogDestroy(native_log);
    return result == ZE_RESULT_SUCCESS ? INGOT_SUCCESS
                                       : level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleDynamicLink", result);
}

static ingot_status_t build_for_device(const struct job *job, uint32_t device_index, ze_module_handle_t *modules)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (job->module_count == 1) {
        status = job->request->source_count > 1 ? create_module_of_all_sources(job, device_index, modules)
                                                : create_module_of_source(job, 0, device_index, modules);
        return status == INGOT_SUCCESS ? refuse_imports(job, modules[0]) : status;
    }
    for (size_t i = 0; i < job->module_count && status == INGOT_SUCCESS; ++i)
        status = create_module_of_source(job, i, device_index, &modules[i]);
    return status == INGOT_SUCCESS ? level_zero_link_modules(job->state, job->module_count, modules, job->log) : status;
}

ingot_status_t level_zero_build(void *opaque, const ingot_build_request_t *request, size_t device_count,
                                const uint32_t *device_indices, ingot_sink_t *log, void **out)
{
    const struct level_zero_state *state = opaque;
    struct job job = {.state = state, .request = request, .log = log};
    struct level_zero_program *program = NULL;
    job.module_count = state->links_programs ? 1 : request->source_count;
    ingot_status_t status = ingot_spirv_check_request(request, log);
    if (status == INGOT_SUCCESS)
        status = level_zero_build_flags(state, request->compile_options, request->link_options,
                                        job.module_count > 1 ? LIBRARY_FLAG : "", &job.flags);
    if (status == INGOT_SUCCESS)
        status = spec_constants_init(state, request, &job.constants);
    if (status == INGOT_SUCCESS)
        status = level_zero_program_create(state, device_count, device_indices, job.module_count, &program);
    for (size_t i = 0; i < device_count && status == INGOT_SUCCESS; ++i)
        status = build_for_device(&job, device_indices[i], program->modules + i * job.module_count);
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    level_zero_destroy_program(opaque, program);
    spec_constants_fini(state, &job.constants);
    level_zero_text_fini(state, &job.flags);
    return status;
}

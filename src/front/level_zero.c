/*
 * level_zero.c - replaces zeModuleCreate.
 *
 * Whatever goes wrong with the cache, the driver's own call makes the module. The build log that the application gets
 * is the driver's for the call that made or refused the module; loader/level_zero.c keeps it.
 */
#include <ingot/backend.h>
#include <ingot/level_zero.h>
#include <stdlib.h>
#include <string.h>

#include "backends/level_zero/backend.h"
#include "core/context/context.h"
#include "front/loader/level_zero.h"
#include "front/pending.h"

/* Where the application gets what was made. */
struct outputs {
    ze_module_handle_t *module;
    ze_module_build_log_handle_t *log; /* may be NULL */
};

/* The arguments, and the module that is made for them. */
struct creation {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_module_desc_t desc;
    bool wants_log;
    ze_module_handle_t module; /* NULL: none */
    ze_module_build_log_handle_t log;
    ingot_origin_t origin;
};

static bool has_extras(const ze_module_desc_t *desc)
{
    return desc->pNext != NULL || (desc->pConstants != NULL && desc->pConstants->numConstants != 0);
}

static ingot_status_t copy_facts(void **facts, const void *opaque)
{
    const struct level_zero_state *state = opaque;
    struct level_zero_state *copy = NULL;
    const ingot_status_t status =
        level_zero_state_create(&copy, &state->allocator, state->driver, NULL, state->device_count, state->devices);
    *facts = copy;
    return status == INGOT_SUCCESS ? level_zero_state_learn(copy, state) : status;
}

static ingot_status_t make_context(struct ingot_cache *cache, const struct creation *creation,
                                   ze_driver_handle_t driver, struct ingot_context **context)
{
    const ingot_allocator_t allocator = {NULL, NULL, NULL};
    struct level_zero_state *state = NULL;
    const ingot_status_t status =
        level_zero_state_create(&state, &allocator, driver, creation->context, 1, &creation->device);
    const struct request_state of = {.ops = &level_zero_ops,
                                     .state = state,
                                     .device_count = 1,
                                     .key_size = sizeof(creation->device),
                                     .key = &creation->device,
                                     .learn = level_zero_state_learn,
                                     .copy_facts = copy_facts};
    return status == INGOT_SUCCESS ? request_make_context(cache, &of, context) : status;
}

/* Returns INGOT_UNIMPLEMENTED if the cache does not take such a module. */
static ingot_status_t open_creation(const void *self, struct ingot_cache *cache, struct request *request,
                                    struct ingot_context **context)
{
    const struct creation *creation = self;
    const ze_module_desc_t *desc = &creation->desc;
    *request = (struct request){
        .kind = INGOT_SOURCE_SPIRV, .bytes = desc->pInputModule, .size = desc->inputSize, .options = desc->pBuildFlags};
    if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV || has_extras(desc))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "only SPIR-V without specialization constants and extensions is cached");
    const ze_driver_handle_t driver = loader_level_zero_driver_of(creation->device);
    return driver != NULL
               ? make_context(cache, creation, driver, context)
               : ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver of the Level Zero device was not found");
}

static ingot_status_t get_module_from_cache(struct ingot_cache *cache, struct creation *creation,
                                            enum program_miss miss)
{
    struct request wanted;
    struct made_program made = {NULL, NULL, INGOT_ORIGIN_BUILD};
    struct ingot_context *context = NULL;
    ingot_status_t status = open_creation(creation, cache, &wanted, &context);
    if (status == INGOT_SUCCESS)
        status = request_program(cache, &wanted, miss, context, &made);
    if (status == INGOT_SUCCESS) {
        creation->module = level_zero_take_module(made.native);
        creation->origin = made.origin;
    }
    request_end(context, &made);
    return status;
}

static ingot_status_t create_natively(struct creation *creation)
{
    const ze_result_t result = zeModuleCreate(creation->context, creation->device, &creation->desc, &creation->module,
                                              creation->wants_log ? &creation->log : NULL);
    creation->origin = INGOT_ORIGIN_BUILD;
    if (result == ZE_RESULT_SUCCESS)
        return INGOT_SUCCESS;
    creation->module = NULL;
    return level_zero_fail(result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ? INGOT_BUILD_FAILED : INGOT_BACKEND_ERROR,
                           "zeModuleCreate", result);
}

static void forget_module(void *self)
{
    struct creation *creation = self;
    if (creation->log != NULL)
        (void)zeModuleBuildLogDestroy(creation->log);
    if (creation->module != NULL)
        (void)zeModuleDestroy(creation->module);
    creation->log = NULL;
    creation->module = NULL;
}

static ingot_status_t get_module(void *self, struct ingot_cache *cache, enum program_miss miss)
{
    struct creation *creation = self;
    ingot_status_t status = INGOT_NOT_FOUND;
    if (cache_storage(cache) != NULL) {
        ze_module_build_log_handle_t *const before =
            loader_level_zero_keep_log(creation->wants_log ? &creation->log : NULL);
        status = get_module_from_cache(cache, creation, miss);
        (void)loader_level_zero_keep_log(before);
        /* A module that the driver would not survive is refused before the driver sees it, without a log. */
        if (status == INGOT_BUILD_FAILED ||
            (status == INGOT_SUCCESS && (!creation->wants_log || creation->log != NULL)))
            return status;
        if (status == INGOT_SUCCESS)
            status = ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver gave no build log");
        forget_module(creation);
        if (status == INGOT_BUSY && miss != PROGRAM_WAIT)
            return status;
    }
    const ingot_status_t may_create = request_pass_through(cache, status);
    return may_create == INGOT_SUCCESS ? create_natively(creation) : may_create;
}

/* Hands the module and its log over to the application. */
static void give_module(void *self, ingot_status_t status, void *out, ingot_origin_t *origin)
{
    struct creation *creation = self;
    const struct outputs *outputs = out;
    if (status == INGOT_SUCCESS) {
        *outputs->module = creation->module;
        creation->module = NULL;
        if (origin != NULL)
            *origin = creation->origin;
    }
    if (outputs->log != NULL) {
        *outputs->log = creation->log;
        creation->log = NULL;
    }
}

/* Checks the arguments, and makes a creation of them. */
static ingot_status_t take_arguments(struct creation *creation, ze_context_handle_t context, ze_device_handle_t device,
                                     const ze_module_desc_t *desc, const void *out)
{
    if (context == NULL || device == NULL || desc == NULL || out == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "context, device, desc or the place for the result is NULL");
    *creation = (struct creation){.context = context, .device = device, .desc = *desc};
    return INGOT_SUCCESS;
}

ingot_status_t ingot_cache_level_zero_create(ingot_cache_t cache, ze_context_handle_t context,
                                             ze_device_handle_t device, const ze_module_desc_t *desc,
                                             ze_module_handle_t *module, ze_module_build_log_handle_t *log,
                                             ingot_origin_t *origin)
{
    struct creation creation;
    ingot_status_t status = take_arguments(&creation, context, device, desc, module);
    if (status != INGOT_SUCCESS)
        return status;
    creation.wants_log = log != NULL;
    status = get_module(&creation, cache, cache_miss(cache));
    struct outputs outputs = {module, log};
    give_module(&creation, status, &outputs, origin);
    return status;
}

/* ---- begun modules ---- */

static const struct pending_ops begun_ops = {open_creation, get_module, give_module, forget_module, NULL};

ingot_status_t ingot_cache_level_zero_begin(ingot_cache_t cache, ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_module_desc_t *desc, ingot_pending_t *pending)
{
    struct creation creation;
    const ingot_status_t status = take_arguments(&creation, context, device, desc, pending);
    if (status != INGOT_SUCCESS)
        return status;
    if (has_extras(desc))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "modules with specialization constants or extensions cannot be begun");
    const struct pending_part parts[] = {{offsetof(struct creation, desc.pBuildFlags), PENDING_TEXT},
                                         {offsetof(struct creation, desc.pInputModule), desc->inputSize}};
    creation.wants_log = true;
    creation.desc.pConstants = NULL;
    return pending_begin(pending, cache, &begun_ops, pending_copy(sizeof(creation), &creation, 2, parts));
}

ingot_status_t ingot_cache_level_zero_take(ingot_pending_t pending, ze_module_handle_t *module,
                                           ze_module_build_log_handle_t *log, ingot_origin_t *origin)
{
    struct outputs outputs = {module, log};
    return pending_take(pending, &begun_ops, module != NULL ? &outputs : NULL, origin);
}

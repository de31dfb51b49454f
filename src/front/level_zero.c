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
#include "backends/level_zero/errors.h"
#include "backends/level_zero/state.h"
#include "core/context/context.h"
#include "front/loader/level_zero.h"
#include "front/pending.h"

struct creation {
    ze_context_handle_t context;
    ze_device_handle_t device;
    const ze_module_desc_t *desc;
    enum program_miss miss;
};

static ingot_status_t make_context(struct ingot_cache *cache, const struct creation *creation,
                                   ze_driver_handle_t driver, struct ingot_context **context)
{
    const ingot_allocator_t allocator = {NULL, NULL, NULL};
    struct level_zero_state *state = NULL;
    struct level_zero_state *facts = NULL;
    struct ingot_context *target =
        targets_find(&cache->targets, &level_zero_ops, sizeof(creation->device), &creation->device);
    ingot_status_t status =
        level_zero_state_create(&state, &allocator, driver, creation->context, 1, &creation->device);
    if (status == INGOT_SUCCESS)
        status = level_zero_state_learn(state, target != NULL ? target->state : NULL);
    if (status == INGOT_SUCCESS && target == NULL) {
        status = level_zero_state_create(&facts, &allocator, driver, NULL, 1, &creation->device);
        if (status == INGOT_SUCCESS)
            status = level_zero_state_learn(facts, state);
        if (status == INGOT_SUCCESS)
            status = request_make_target(cache, &level_zero_ops, facts, 1, sizeof(creation->device), &creation->device,
                                         &target);
    }
    if (status == INGOT_SUCCESS)
        status = context_create_over(context, target, state);
    if (status != INGOT_SUCCESS)
        level_zero_state_destroy(state);
    if (target != NULL)
        context_unreference(target);
    return status;
}

static struct request describe_module(struct ingot_cache *cache, const struct creation *creation)
{
    return (struct request){.cache = cache,
                            .kind = INGOT_SOURCE_SPIRV,
                            .bytes = creation->desc->pInputModule,
                            .size = creation->desc->inputSize,
                            .options = creation->desc->pBuildFlags,
                            .miss = creation->miss};
}

/* Makes a context for the module. Returns INGOT_UNIMPLEMENTED if the cache does not take such a module. */
static ingot_status_t make_context_for(struct ingot_cache *cache, const struct creation *creation,
                                       struct ingot_context **context)
{
    const ze_module_desc_t *desc = creation->desc;
    const bool has_constants = desc->pConstants != NULL && desc->pConstants->numConstants != 0;
    if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV || desc->pNext != NULL || has_constants)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "only SPIR-V without specialization constants and extensions is cached");
    const ze_driver_handle_t driver = loader_level_zero_driver_of(creation->device);
    return driver != NULL
               ? make_context(cache, creation, driver, context)
               : ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver of the Level Zero device was not found");
}

static ingot_status_t get_module_from_cache(struct ingot_cache *cache, const struct creation *creation,
                                            ze_module_handle_t *module, ingot_origin_t *origin)
{
    const struct request wanted = describe_module(cache, creation);
    struct made_program made = {NULL, NULL, INGOT_ORIGIN_BUILD};
    struct ingot_context *context = NULL;
    ingot_status_t status = make_context_for(cache, creation, &context);
    if (status == INGOT_SUCCESS)
        status = request_program(&wanted, context, &made);
    if (status == INGOT_SUCCESS) {
        *module = level_zero_take_module(made.native);
        *origin = made.origin;
    }
    request_end(context, &made);
    return status;
}

static ingot_status_t create_natively(const struct creation *creation, ze_module_handle_t *module,
                                      ze_module_build_log_handle_t *log)
{
    const ze_result_t result = zeModuleCreate(creation->context, creation->device, creation->desc, module, log);
    if (result == ZE_RESULT_SUCCESS)
        return INGOT_SUCCESS;
    *module = NULL;
    return level_zero_fail(result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ? INGOT_BUILD_FAILED : INGOT_BACKEND_ERROR,
                           "zeModuleCreate", result);
}

static ingot_status_t get_or_create_module(struct ingot_cache *cache, const struct creation *creation,
                                           ze_module_handle_t *module, ze_module_build_log_handle_t *log,
                                           ingot_origin_t *origin)
{
    ze_module_build_log_handle_t kept = NULL;
    ingot_status_t status = INGOT_NOT_FOUND;
    if (cache_storage(cache) != NULL) {
        ze_module_build_log_handle_t *const before = loader_level_zero_keep_log(log != NULL ? &kept : NULL);
        status = get_module_from_cache(cache, creation, module, origin);
        (void)loader_level_zero_keep_log(before);
        /* A module that the driver would not survive is refused before the driver sees it, without a log. */
        if (status == INGOT_BUILD_FAILED || (status == INGOT_SUCCESS && (log == NULL || kept != NULL))) {
            if (log != NULL)
                *log = kept;
            return status;
        }
        if (kept != NULL)
            (void)zeModuleBuildLogDestroy(kept);
        if (status == INGOT_BUSY && creation->miss != PROGRAM_WAIT)
            return status;
        if (status == INGOT_SUCCESS) {
            (void)zeModuleDestroy(*module);
            *module = NULL;
            status = ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver gave no build log");
        }
    }
    const ingot_status_t may_create = request_pass_through(cache, status);
    if (may_create != INGOT_SUCCESS)
        return may_create;
    *origin = INGOT_ORIGIN_BUILD;
    return create_natively(creation, module, log);
}

ingot_status_t ingot_cache_level_zero_create(ingot_cache_t cache, ze_context_handle_t context,
                                             ze_device_handle_t device, const ze_module_desc_t *desc,
                                             ze_module_handle_t *module, ze_module_build_log_handle_t *log,
                                             ingot_origin_t *origin)
{
    const struct creation creation = {context, device, desc, cache_miss(cache)};
    ingot_origin_t found = INGOT_ORIGIN_BUILD;
    ze_module_handle_t made = NULL;
    if (context == NULL || device == NULL || desc == NULL || module == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL  ? "context"
                                      : device == NULL ? "device"
                                      : desc == NULL   ? "desc"
                                                       : "module");
    const ingot_status_t status = get_or_create_module(cache, &creation, &made, log, &found);
    if (status == INGOT_SUCCESS)
        *module = made;
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = found;
    return status;
}

/* ---- begun modules ---- */

/* Followed by copies of the flags and the bytes. */
struct begun_module {
    struct creation creation;
    ze_module_desc_t desc;
    ze_module_handle_t module; /* NULL: none */
    ze_module_build_log_handle_t log;
    ingot_origin_t origin;
    char texts[];
};

static ingot_status_t begin_module(void *self, struct ingot_cache *cache, struct begun *begun)
{
    const struct begun_module *own = self;
    const struct request wanted = describe_module(cache, &own->creation);
    struct made_program nothing = {NULL, NULL, INGOT_ORIGIN_BUILD};
    struct ingot_context *context = NULL;
    ingot_status_t status = make_context_for(cache, &own->creation, &context);
    if (status == INGOT_SUCCESS)
        status = request_begin(&wanted, context, begun);
    request_end(context, &nothing);
    return status;
}

static void forget_module(void *self)
{
    struct begun_module *own = self;
    if (own->log != NULL)
        (void)zeModuleBuildLogDestroy(own->log);
    if (own->module != NULL)
        (void)zeModuleDestroy(own->module);
    own->log = NULL;
    own->module = NULL;
}

static ingot_status_t get_module(void *self, struct ingot_cache *cache, enum program_miss miss)
{
    struct begun_module *own = self;
    own->creation.miss = miss;
    return get_or_create_module(cache, &own->creation, &own->module, &own->log, &own->origin);
}

static void destroy_module(void *self)
{
    forget_module(self);
    free(self);
}

static const struct pending_ops begun_ops = {begin_module, get_module, forget_module, destroy_module};

ingot_status_t ingot_cache_level_zero_begin(ingot_cache_t cache, ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_module_desc_t *desc, ingot_pending_t *pending)
{
    if (context == NULL || device == NULL || desc == NULL || pending == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "an argument is NULL");
    if (desc->pNext != NULL || (desc->pConstants != NULL && desc->pConstants->numConstants != 0))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "modules with specialization constants or extensions cannot be begun");
    const size_t flags_size = desc->pBuildFlags != NULL ? strlen(desc->pBuildFlags) + 1 : 0;
    struct begun_module *own = malloc(sizeof(*own) + flags_size + desc->inputSize);
    if (own == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a copy of the module");
    *own = (struct begun_module){.creation = {context, device, &own->desc, PROGRAM_WAIT}, .desc = *desc};
    own->desc.pConstants = NULL;
    if (flags_size != 0)
        own->desc.pBuildFlags = memcpy(own->texts, desc->pBuildFlags, flags_size);
    own->desc.pInputModule = memcpy(own->texts + flags_size, desc->pInputModule, desc->inputSize);
    return pending_begin(pending, cache, &begun_ops, own);
}

ingot_status_t ingot_cache_level_zero_take(ingot_pending_t pending, ze_module_handle_t *module,
                                           ze_module_build_log_handle_t *log, ingot_origin_t *origin)
{
    void *self = NULL;
    if (module == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "module is NULL");
    const ingot_status_t status = pending_take(pending, &begun_ops, &self);
    struct begun_module *own = self;
    if (own == NULL)
        return status;
    if (status == INGOT_SUCCESS) {
        *module = own->module;
        own->module = NULL;
    }
    if (log != NULL) {
        *log = own->log;
        own->log = NULL;
    }
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = own->origin;
    destroy_module(own);
    return status;
}

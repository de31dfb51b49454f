/*
 * request.c - gets a program through a cache's storage; see request.h.
 */
#include "front/request.h"

#include <ingot/backend.h>
#include <ingot/persist.h>
#include <stdio.h>

#include "core/context/context.h"
#include "front/flight.h"
#include "persist/storage/miss.h"

static void trace_event(const ingot_event_t *event, void *user)
{
    const struct ingot_cache *cache = user;
    trace_emit(&cache->trace, event);
}

ingot_context_info_t request_context_info(struct ingot_cache *cache)
{
    static const ingot_cache_capacity_t nothing = {sizeof(nothing), 0, 0, 0, INGOT_CACHE_OFF};
    ingot_context_info_t info = {
        .struct_size = sizeof(info), .cache_capacity = &nothing, .flags = INGOT_CONTEXT_NO_HEADER_MEMO};
    if (cache != NULL && cache->adds_options) { /* the context reads the environment, and writes the trace */
        info.on_event = cache->trace.callback;
        info.on_event_user = cache->trace.user;
        return info;
    }
    info.flags |= (uint32_t)INGOT_CONTEXT_IGNORE_ENVIRONMENT;
    if (cache != NULL && trace_wanted(&cache->trace)) {
        info.on_event = trace_event;
        info.on_event_user = cache;
    }
    return info;
}

static ingot_status_t describe_program(const struct request *request, ingot_context_t context,
                                       ingot_program_desc_t *desc)
{
    const ingot_source_info_t source_info = {.struct_size = sizeof(source_info),
                                             .kind = request->kind,
                                             .bytes = request->bytes,
                                             .size = request->size,
                                             .name = request->name};
    ingot_source_t source = NULL;
    ingot_status_t status = ingot_source_create(&source, &source_info);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_program_info_t info = {.struct_size = sizeof(info),
                                       .sources = &source,
                                       .source_count = 1,
                                       .compile_options = request->options,
                                       .spec_constants = request->constants,
                                       .spec_constant_count = request->constant_count,
                                       .flags = INGOT_PROGRAM_NO_MEMORY_CACHE};
    status = ingot_program_desc_create(desc, context, &info);
    ingot_source_release(source);
    return status;
}

/* Gets the id of a program, with the identities of devices that are known already. */
static ingot_status_t get_program_id(struct ingot_cache *cache, const_ingot_program_desc_t desc,
                                     const request_device_t *devices, size_t *size, const uint8_t **id)
{
    ingot_context_t context = ingot_program_desc_get_context(desc);
    const char *backend = ingot_context_get_backend_name(context);
    const uint32_t count = ingot_context_get_device_count(context);
    for (uint32_t i = 0; i < count; ++i) {
        if (devices[i] != 0)
            devices_lookup(&cache->devices, context, i, backend, devices[i]);
    }
    const ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, size, id);
    for (uint32_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        if (devices[i] != 0)
            devices_learn(&cache->devices, context, i, backend, devices[i]);
    }
    return status;
}

ingot_status_t request_program(const struct request *request, ingot_context_t context, const request_device_t *devices,
                               ingot_program_t *program, ingot_origin_t *origin)
{
    ingot_program_desc_t desc = NULL;
    struct flight flight;
    size_t size = 0;
    const uint8_t *id = NULL;
    if (request->cache->memo != NULL)
        context_share_memo(context, request->cache->memo);
    ingot_status_t status = describe_program(request, context, &desc);
    if (status != INGOT_SUCCESS)
        return status;
    status = get_program_id(request->cache, desc, devices, &size, &id);
    if (status == INGOT_SUCCESS) {
        flight_begin(&flight, request->cache->storage, size, id);
        status = ingot_persist_program_create(program, desc, request->cache->storage, origin);
        flight_end(&flight);
    }
    ingot_program_desc_release(desc);
    return status;
}

ingot_status_t request_build(const struct request *request, ingot_context_t context, ingot_program_t *program)
{
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = describe_program(request, context, &desc);
    if (status == INGOT_SUCCESS)
        status = ingot_program_build(program, desc);
    ingot_program_desc_release(desc);
    return status;
}

static ingot_status_t judge_miss(const struct ingot_cache *cache, ingot_status_t status)
{
    char reason[512];
    if (cache_storage(cache) == NULL)
        (void)cache_refuse(cache, INGOT_NOT_FOUND);
    if (cache == NULL || cache->on_miss == INGOT_PERSIST_ON_MISS_COMPILE)
        return INGOT_SUCCESS;
    if (status == INGOT_NOT_FOUND && cache_storage(cache) != NULL)
        return status; /* the storage has judged and reported it */
    (void)snprintf(reason, sizeof(reason), "miss: %s", ingot_last_error_detail());
    cache_tell(cache, INGOT_EVENT_STORAGE_MISS, INGOT_NOT_FOUND, NULL, reason);
    if (cache->on_miss == INGOT_PERSIST_ON_MISS_FAIL)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s", reason);
    miss_print(reason);
    return INGOT_SUCCESS;
}

ingot_status_t request_pass_through(const struct ingot_cache *cache, ingot_status_t status)
{
    const ingot_status_t may_pass = judge_miss(cache, status);
    if (may_pass == INGOT_SUCCESS && cache_storage(cache) != NULL)
        cache_tell(cache, INGOT_EVENT_PASSED_THROUGH, status, NULL, ingot_last_error_detail());
    return may_pass;
}

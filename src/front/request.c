/*
 * request.c - gets a program through a cache's storage; see request.h.
 */
#include "front/request.h"

#include <ingot/backend.h>
#include <ingot/persist.h>
#include <ingot/private/program.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context.h"
#include "front/builders.h"
#include "front/lock.h"
#include "persist/base/base.h"
#include "persist/storage/storage.h"

/* What the cache knows of some devices, as an Ingot context without native objects, over which each request makes its
 * own. All requests for the same devices share it, because making an identity takes up to 25 ms (PoCL: it reads the
 * compiler's files). Only devices that live as long as the process may be kept, because another device may get the
 * handle of a sub-device that was released. */
struct kept_target {
    struct kept_target *next;
    struct ingot_context *context;
    size_t size;
    uint8_t key[];
};

static void release_target(struct kept_target *target)
{
    ingot_context_release(target->context);
    free(target);
}

void targets_fini(struct ingot_cache *cache)
{
    while (cache->targets != NULL) {
        struct kept_target *target = cache->targets;
        cache->targets = target->next;
        release_target(target);
    }
}

/* Returns the target of these devices, which the key identifies in their backend, with a reference that
 * context_unreference drops; NULL if none is kept, or if variables with the compiler's options have changed since. */
static struct ingot_context *targets_find(struct ingot_cache *cache, const ingot_backend_ops_t *ops, size_t size,
                                          const void *key)
{
    lock_take();
    const struct kept_target *target = cache->targets;
    while (target != NULL &&
           (target->context->ops.build != ops->build || target->size != size || memcmp(target->key, key, size) != 0))
        target = target->next;
    struct ingot_context *found = target != NULL ? target->context : NULL;
    if (found != NULL)
        context_reference(found);
    lock_give();
    if (found == NULL || text_rules_are_current(&found->text_rules, &found->allocator))
        return found;
    lock_take();
    struct kept_target **place = &cache->targets;
    while (*place != NULL && (*place)->context != found)
        place = &(*place)->next;
    struct kept_target *removed = *place;
    if (removed != NULL)
        *place = removed->next;
    lock_give();
    if (removed != NULL)
        release_target(removed);
    context_unreference(found);
    return NULL;
}

/* Keeps a target. If memory runs out, the next request makes another one. */
static void targets_keep(struct ingot_cache *cache, struct ingot_context *target, size_t size, const void *key)
{
    struct kept_target *made = malloc(sizeof(*made) + size);
    if (made == NULL)
        return;
    *made = (struct kept_target){.context = target, .size = size};
    memcpy(made->key, key, size);
    ingot_context_retain(target);
    lock_take();
    made->next = cache->targets; /* two threads may keep equal targets, of which the later one is found */
    cache->targets = made;
    lock_give();
}

static void trace_event(const ingot_event_t *event, void *user)
{
    const struct ingot_cache *cache = user;
    trace_emit(&cache->trace, event);
}

/* Returns the info of a target, which is valid as long as the cache. */
static ingot_context_info_t get_target_info(struct ingot_cache *cache)
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

/* Makes the target of a state, and keeps it in the cache. context_unreference drops it. */
static ingot_status_t make_target(struct ingot_cache *cache, const struct request_state *of,
                                  struct ingot_context **target)
{
    const ingot_context_info_t info = get_target_info(cache);
    void *facts = NULL;
    struct ingot_context *made = NULL;
    ingot_status_t status = of->copy_facts != NULL ? of->copy_facts(&facts, of->state) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        status = ingot_context_create(&made, of->ops, facts, of->device_count, &info);
    if (status != INGOT_SUCCESS) {
        of->ops->destroy(facts);
        return status;
    }
    if (cache != NULL && cache->memo != NULL)
        context_share_memo(made, cache->memo);
    if (cache != NULL && cache->metrics.process != 0)
        trace_count(&made->trace, of->ops->name);
    if (cache != NULL && (of->may_end == NULL || !of->may_end(of->state)))
        targets_keep(cache, made, of->key_size, of->key);
    context_reference(made);
    ingot_context_release(made);
    *target = made;
    return INGOT_SUCCESS;
}

ingot_status_t request_make_context(struct ingot_cache *cache, const struct request_state *of,
                                    struct ingot_context **context)
{
    struct ingot_context *target = cache != NULL ? targets_find(cache, of->ops, of->key_size, of->key) : NULL;
    ingot_status_t status =
        of->learn != NULL ? of->learn(of->state, target != NULL ? target->state : NULL) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS && target == NULL)
        status = make_target(cache, of, &target);
    if (status == INGOT_SUCCESS)
        status = context_create_over(context, target, of->state);
    if (status != INGOT_SUCCESS)
        of->ops->destroy(of->state);
    if (target != NULL)
        context_unreference(target);
    return status;
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
                                       .flags = INGOT_PROGRAM_NO_MEMORY_CACHE};
    status = ingot_program_desc_create(desc, context, &info);
    ingot_source_release(source);
    return status;
}

/* For a program that was wished for. Keeps the error detail. */
static void call_builders(const struct ingot_cache *cache)
{
    struct kept_error kept;
    if (cache->builders == NULL)
        return;
    kept_error_save(&kept);
    const ingot_status_t status = builders_call(cache->builders, cache->storage);
    if (status != INGOT_SUCCESS)
        cache_tell(cache, INGOT_EVENT_STORAGE_DEGRADED, status, NULL, ingot_last_error_detail());
    kept_error_restore(&kept);
}

ingot_status_t request_program(const struct ingot_cache *cache, const struct request *request, enum program_miss miss,
                               struct ingot_context *context, struct made_program *made)
{
    ingot_program_desc_t desc = NULL;
    size_t size = 0;
    const uint8_t *id = NULL;
    ingot_status_t status = describe_program(request, context, &desc);
    if (status != INGOT_SUCCESS)
        return status;
    status = ingot_program_desc_get_cache_blob_id(desc, &size, &id);
    if (status == INGOT_SUCCESS)
        status = persist_program_get(&made->native, &made->program, desc, cache->storage, miss, &made->origin);
    if (status == INGOT_BUSY && miss == PROGRAM_WISH)
        call_builders(cache);
    if (status == INGOT_SUCCESS && made->program != NULL)
        made->native = ingot_program_get_backend_program(made->program, &context->ops);
    ingot_program_desc_release(desc);
    return status;
}

ingot_status_t request_begin(const struct ingot_cache *cache, const struct request *request,
                             struct ingot_context *context, struct begun *begun)
{
    ingot_program_desc_t desc = NULL;
    const uint8_t *id = NULL;
    ingot_status_t status = describe_program(request, context, &desc);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_get_cache_blob_id(desc, &begun->id_size, &id);
    if (status == INGOT_SUCCESS) {
        begun->id = malloc(begun->id_size);
        if (begun->id == NULL)
            status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an id");
        else
            memcpy(begun->id, id, begun->id_size);
    }
    if (status == INGOT_SUCCESS)
        status = persist_program_begin(desc, cache->storage);
    if (status == INGOT_BUSY)
        call_builders(cache);
    ingot_program_desc_release(desc);
    return status;
}

ingot_status_t request_build(const struct request *request, struct ingot_context *context, struct made_program *made)
{
    ingot_program_desc_t desc = NULL;
    ingot_status_t status = describe_program(request, context, &desc);
    if (status == INGOT_SUCCESS)
        status = ingot_program_build(&made->program, desc);
    if (status == INGOT_SUCCESS)
        made->native = ingot_program_get_backend_program(made->program, &context->ops);
    made->origin = INGOT_ORIGIN_BUILD;
    ingot_program_desc_release(desc);
    return status;
}

void request_end(struct ingot_context *context, struct made_program *made)
{
    if (made->program == NULL && made->native != NULL)
        context->ops.destroy_program(context->state, made->native);
    ingot_program_release(made->program);
    ingot_context_release(context);
}

static ingot_status_t judge_miss(const struct ingot_cache *cache, ingot_status_t status)
{
    char reason[512];
    if (cache_storage(cache) == NULL)
        (void)cache_refuse(cache, INGOT_NOT_FOUND);
    if (cache == NULL || cache->on_miss == INGOT_PERSIST_ON_MISS_COMPILE ||
        cache->on_miss == INGOT_PERSIST_ON_MISS_LATER)
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
    if (may_pass == INGOT_SUCCESS && cache_storage(cache) != NULL) {
        cache_tell(cache, INGOT_EVENT_PASSED_THROUGH, status, NULL, ingot_last_error_detail());
        ingot_metrics_add(INGOT_METRIC_REFUSED, "passed_through", NULL, NULL, 1);
    }
    return may_pass;
}

/*
 * program.c - answers requests for programs from the in-memory cache; see program.h.
 */
#include "core/program/program.h"

#include <ingot/private/descriptor.h>
#include <ingot/private/program.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory_cache/cache_hit.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

void program_emit(const struct ingot_program_desc *desc, ingot_event_kind_t kind, ingot_status_t status,
                  uint64_t start_ns, size_t bytes, const char *reason)
{
    const struct trace *trace = &desc->context->trace;

    if (!trace_wanted(trace))
        return;
    const ingot_event_t event = {.struct_size = sizeof(event),
                                 .kind = kind,
                                 .status = status,
                                 .duration_ns = start_ns != 0 ? nanoseconds_of(CLOCK_MONOTONIC) - start_ns : 0,
                                 .bytes = bytes,
                                 .group = desc->group,
                                 .name = program_desc_name(desc),
                                 .reason = reason,
                                 .session = ""};
    trace_emit(trace, &event);
}

/* ---- the body ---- */

/* Computes the size that finish_program allocated, from where the last text ends. */
static size_t body_size(const struct program_body *body)
{
    const char *reason = program_native_reason(body);
    const char *end = reason != NULL ? reason + strlen(reason) + 1 : program_log(body) + body->log_size;
    return (size_t)(end - (const char *)body);
}

static void destroy_body(void *user, void *value)
{
    struct program_body *body = value;
    struct ingot_program_desc *desc = body->desc;
    struct ingot_context *context = desc->context;
    const ingot_allocator_t *allocator = &context->allocator;

    (void)user;
    program_destroy_kernels(body);
    if (body->native != NULL)
        context->ops.destroy_program(context->state, body->native);
    program_free_blob(atomic_load_explicit(&body->blob, memory_order_relaxed), allocator);
    memory_free(allocator, body, body_size(body));
    ingot_program_desc_release(desc);
}

/* ---- what the in-memory cache calls ---- */

/* True if the program can be used for the descriptor. A natively compiled program, which has no id, can be used only
 * for its own descriptor. */
static bool program_matches_key(const void *value, const void *key)
{
    const struct program_body *body = value;
    return body->is_native ? body->desc == key : program_desc_equals(body->desc, key);
}

static bool are_program_keys_equal(const void *key, const void *other)
{
    return program_desc_equals(key, other);
}

static void emit_program_eviction(void *user, void *value, size_t bytes, enum eviction_reason reason)
{
    static const char *const reasons[EVICTION_REASONS] = {
        [EVICTED_COUNT] = "max_programs", [EVICTED_BYTES] = "max_bytes",          [EVICTED_GROUPS] = "max_groups",
        [EVICTED_CLEAR] = "clear",        [EVICTED_MEMORY] = "out of memory",     [EVICTED_REPLACED] = "replaced",
        [EVICTED_TAKEN] = "taken",        [EVICTED_FAMILY] = "max_session_groups"};
    const struct program_body *body = value;

    (void)user;
    program_emit(body->desc, INGOT_EVENT_EVICT, INGOT_SUCCESS, 0, bytes, reasons[reason]);
}

/* This function is not in context.c, because only this file knows that the cached values are programs. */
ingot_status_t ingot_context_create(ingot_context_t *context, const ingot_backend_ops_t *ops, void *state,
                                    uint32_t device_count, const ingot_context_info_t *info)
{
    static const struct memory_cache_ops program_ops = {program_matches_key,    destroy_body, emit_program_eviction,
                                                        are_program_keys_equal, false,        NULL};
    return context_create(context, ops, state, device_count, info, &program_ops);
}

/* ---- requests ---- */

struct making {
    const struct ingot_program_desc *desc;
    ingot_program_builder_t builder;
    void *user;
};

size_t program_count_bytes(const struct program_body *body)
{
    return body_size(body) + program_kernels_size(body) +
           atomic_load_explicit(&body->device_bytes, memory_order_relaxed);
}

static ingot_status_t make_with_builder(struct cache_entry **entry, size_t *bytes, void *user)
{
    const struct making *making = user;
    struct ingot_program *program = NULL;

    program_emit(making->desc, INGOT_EVENT_MISS, INGOT_NOT_FOUND, 0, 0, "");
    const ingot_status_t status = making->builder(&program, making->desc, making->user);
    if (status != INGOT_SUCCESS)
        return status;
    if (program == NULL || program_body(program)->desc->context != making->desc->context ||
        !program_desc_equals(program_body(program)->desc, making->desc)) {
        ingot_program_release(program);
        return error_set(INGOT_INVALID_ARGUMENTS, "the builder returned a program of another descriptor or context");
    }
    *entry = program_entry(program);
    *bytes = program_count_bytes(program_body(program));
    return INGOT_SUCCESS;
}

__attribute__((cold, noinline)) static ingot_status_t emit_hit(const struct ingot_program_desc *desc)
{
    program_emit(desc, INGOT_EVENT_HIT, INGOT_SUCCESS, 0, 0, "");
    return INGOT_SUCCESS;
}

static inline ingot_status_t deliver_hit(ingot_program_t *program, const struct ingot_program_desc *desc,
                                         struct cache_entry *entry)
{
    *program = (struct ingot_program *)entry;
    return desc->context->trace.wants_hits ? emit_hit(desc) : INGOT_SUCCESS;
}

static struct cache_request request_for(const struct ingot_program_desc *desc)
{
    struct ingot_program_desc *shared = (struct ingot_program_desc *)desc; /* only its memo changes, which is atomic */
    const bool is_transient = (desc->flags & INGOT_PROGRAM_NO_MEMORY_CACHE) != 0;
    return (struct cache_request){desc->key_hash, desc, is_transient ? NULL : &shared->memo,
                                  *desc->group != '\0' ? desc->group : NULL, is_transient};
}

/* Finishes a pending hit (cache_hit.h), or else finds the program by content or makes it. A program that must not be
 * cached is not remembered in the descriptor. Not inlined, so that a fast hit does not need this function's stack
 * frame. */
__attribute__((noinline)) static ingot_status_t request_program(ingot_program_t *program,
                                                                const struct ingot_program_desc *desc,
                                                                ingot_program_builder_t builder, void *user,
                                                                struct cache_entry *pending)
{
    struct ingot_program_desc *shared = (struct ingot_program_desc *)desc; /* only its memo changes, which is atomic */
    if (pending != NULL && cache_memo_lookup_rest(&shared->memo, pending) != NULL)
        return deliver_hit(program, desc, pending);
    struct memory_cache *programs = context_programs(desc->context);
    if (programs == NULL)
        return error_out_of_memory();
    struct making making = {desc, builder, user};
    const struct cache_request request = request_for(desc);
    struct cache_entry *entry = NULL;
    enum cache_outcome outcome = CACHE_HIT;

    const uint64_t start = trace_wanted(&desc->context->trace) ? nanoseconds_of(CLOCK_MONOTONIC) : 0;
    const ingot_status_t status =
        memory_cache_get_or_make(programs, &request, make_with_builder, &making, &entry, &outcome);
    if (outcome == CACHE_WAITED)
        program_emit(desc, INGOT_EVENT_WAIT, status, start, 0, "");
    else if (outcome == CACHE_HIT && status == INGOT_SUCCESS)
        program_emit(desc, INGOT_EVENT_HIT, status, start, 0, "");
    if (status == INGOT_SUCCESS)
        *program = (struct ingot_program *)entry;
    return status;
}

static inline ingot_status_t get_or_create_program(ingot_program_t *program, const struct ingot_program_desc *desc,
                                                   ingot_program_builder_t builder, void *user)
{
    struct ingot_program_desc *shared = (struct ingot_program_desc *)desc; /* only its memo changes, which is atomic */
    struct cache_entry *pending = NULL;
    struct cache_entry *entry = cache_memo_lookup_fast(&shared->memo, &pending);

    return entry != NULL ? deliver_hit(program, desc, entry) : request_program(program, desc, builder, user, pending);
}

static ingot_status_t default_program_builder(ingot_program_t *program, const_ingot_program_desc_t desc, void *user)
{
    (void)user;
    return ingot_program_build(program, desc);
}

ingot_status_t program_request(struct ingot_program **program, const struct ingot_program_desc *desc,
                               struct cache_entry *pending)
{
    return request_program(program, desc, default_program_builder, NULL, pending);
}

/* Handles flags out of the way of requests without any. */
__attribute__((cold, noinline)) static ingot_status_t get_with(ingot_program_t *program,
                                                               const struct ingot_program_desc *desc, uint32_t flags)
{
    if (flags != INGOT_PROGRAM_GET_IN_MEMORY)
        return error_set(INGOT_INVALID_ARGUMENTS, "flags has an unknown flag");
    const struct cache_request request = request_for(desc);
    struct cache_entry *entry = request.is_transient ? memory_cache_lookup(desc->context->programs, &request)
                                                     : memory_cache_get(desc->context->programs, &request);
    if (entry == NULL)
        return error_set(INGOT_NOT_FOUND, "the program is not in memory");
    *program = (struct ingot_program *)entry;
    program_emit(desc, INGOT_EVENT_HIT, INGOT_SUCCESS, 0, 0, "");
    return INGOT_SUCCESS;
}

ingot_status_t ingot_program_get(ingot_program_t *program, const_ingot_program_desc_t desc, uint32_t flags)
{
    if (program == NULL || desc == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "program or desc is NULL");
    return flags == 0 ? get_or_create_program(program, desc, default_program_builder, NULL)
                      : get_with(program, desc, flags);
}

ingot_status_t ingot_program_get_or_create(ingot_program_t *program, const_ingot_program_desc_t desc,
                                           ingot_program_builder_t builder, void *user)
{
    if (program == NULL || desc == NULL || builder == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "program, desc or builder is NULL");
    return get_or_create_program(program, desc, builder, user);
}

struct given_blob {
    size_t size;
    const uint8_t *bytes;
};

static ingot_status_t load_given_blob(ingot_program_t *program, const_ingot_program_desc_t desc, void *user)
{
    const struct given_blob *blob = user;
    return ingot_program_load(program, desc, blob->size, blob->bytes);
}

ingot_status_t ingot_program_create_from_cache_blob(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                    size_t size, const uint8_t *cache_blob)
{
    struct given_blob blob = {size, cache_blob};

    if (program == NULL || desc == NULL || (cache_blob == NULL && size != 0))
        return error_set(INGOT_INVALID_ARGUMENTS, "program, desc or cache_blob is NULL");
    return get_or_create_program(program, desc, load_given_blob, &blob);
}

void ingot_program_retain(ingot_program_t program)
{
    if (program != NULL)
        cache_entry_retain(program_entry(program));
}

void ingot_program_release(ingot_program_t program)
{
    if (program != NULL)
        entry_release(program_entry(program));
}

ingot_status_t ingot_program_forget(ingot_program_t program)
{
    if (program == NULL)
        return error_null_argument("program");
    struct cache_entry *entry = program_entry(program);
    if (!memory_cache_forget(program_body(program)->desc->context->programs, entry))
        return error_set(INGOT_NOT_FOUND, "the program is not in memory");
    return INGOT_SUCCESS;
}

/* ---- queries of a program ---- */

ingot_status_t ingot_program_get_facts(const_ingot_program_t program, ingot_program_facts_t *facts)
{
    ingot_program_facts_t known = INGOT_PROGRAM_FACTS_INIT;

    if (program == NULL || !STRUCT_IS_SET(facts))
        return error_set(INGOT_INVALID_ARGUMENTS, "program or facts is NULL, or its struct_size is not set");
    const struct program_body *body = program_body(program);
    known.is_from_cache_blob = body->is_from_blob;
    known.build_time_ns = body->build_ns;
    known.build_log = program_log(body);
    known.kernel_names = body->names;
    known.kernel_names_size = body->names_size;
    known.kernel_count = body->name_count;
    (void)STRUCT_WRITE(facts, known);
    return INGOT_SUCCESS;
}

void *ingot_program_get_backend_program(const_ingot_program_t program, const ingot_backend_ops_t *ops)
{
    if (program == NULL || ops == NULL)
        return NULL;
    const struct program_body *body = program_body(program);
    return body->desc->context->ops.build == ops->build ? body->native : NULL;
}

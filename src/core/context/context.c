/*
 * context.c - creates, retains, releases and queries contexts; see context.h.
 */
#include "core/context/context.h"

#include <ingot/backend.h>
#include <ingot/private/event.h>
#include <ingot/private/header_memo.h>
#include <ingot/private/program.h>
#include <string.h>

#include "core/base/error.h"
#include "core/context/environment.h"
#include "core/identity/loaded_library.h"
#include "util/memory.h"
#include "util/struct_size.h"

static ingot_status_t check_ops(const ingot_backend_ops_t *ops)
{
    if (ops->name == NULL || *ops->name == '\0' ||
        strspn(ops->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(ops->name))
        return error_set(INGOT_INVALID_ARGUMENTS, "the backend's name must consist of a-z, 0-9 and _");
    if (ops->destroy == NULL || ops->identify_device == NULL || ops->accepts == NULL || ops->build == NULL ||
        ops->destroy_program == NULL || ops->get_kernel_names == NULL || ops->create_kernel == NULL ||
        ops->destroy_kernel == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "the backend %s lacks a required operation", ops->name);
    if ((ops->get_binary == NULL) != (ops->load == NULL))
        return error_set(INGOT_INVALID_ARGUMENTS, "the backend %s must have both get_binary and load, or neither",
                         ops->name);
    return INGOT_SUCCESS;
}

static void destroy_context(struct ingot_context *context)
{
    const ingot_allocator_t allocator = context->allocator;
    struct ingot_context *target = context->target;

    if (context->programs != NULL)
        memory_cache_destroy(context->programs);
    if (target != NULL) {
        memory_free(&allocator, context, sizeof(*context));
        context_unreference(target);
        return;
    }
    if (context->identities != NULL) {
        for (uint32_t i = 0; i < context->device_count; ++i)
            device_identity_destroy(atomic_load_explicit(&context->identities[i], memory_order_relaxed), &allocator);
    }
    memory_free(&allocator, context->identities, context->device_count * sizeof(*context->identities));
    memory_free(&allocator, context->native_builds, sizeof(*context->native_builds));
    memory_free_text(&allocator, context->compile_options);
    memory_free_text(&allocator, context->link_options);
    text_rules_fini(&context->text_rules, &allocator);
    header_memo_release(context->header_memo);
    trace_fini(&context->trace);
    striped_count_fini(&context->references, &allocator);
    memory_free(&allocator, context, sizeof(*context));
}

static uint64_t count_program_hits(void *user)
{
    struct memory_cache_counts counts;
    memory_cache_get_counts(user, &counts);
    return counts.hits;
}

static ingot_status_t fill_context(struct ingot_context *context, const ingot_context_info_t *info,
                                   const struct memory_cache_ops *program_ops, const struct environment *environment)
{
    if (!striped_count_spread(&context->references, &context->allocator))
        return error_out_of_memory();
    trace_init(&context->trace, info->on_event, info->on_event_user, environment->trace);
    context->compile_options = memory_make_text(&context->allocator, environment->compile_options);
    context->link_options = memory_make_text(&context->allocator, environment->link_options);
    context->identities =
        memory_allocate_zeroed(&context->allocator, context->device_count * sizeof(*context->identities));
    context->native_builds = memory_allocate_zeroed(&context->allocator, sizeof(*context->native_builds));
    if (context->compile_options == NULL || context->link_options == NULL || context->identities == NULL ||
        context->native_builds == NULL)
        return error_out_of_memory();
    if (text_rules_init(&context->text_rules, &context->allocator, &context->ops, context->state) != INGOT_SUCCESS)
        return error_out_of_memory();
    const bool has_memo = environment->header_memo && (info->flags & INGOT_CONTEXT_NO_HEADER_MEMO) == 0;
    if (has_memo && header_memo_create(&context->header_memo, &context->allocator, MEMO_SETTLE_NS) != INGOT_SUCCESS)
        return error_out_of_memory();
    context->program_ops = program_ops;
    if (memory_cache_create(&context->programs, &context->allocator, program_ops, context, &environment->limits) !=
        INGOT_SUCCESS)
        return error_out_of_memory();
    return INGOT_SUCCESS;
}

ingot_status_t context_create(struct ingot_context **context, const ingot_backend_ops_t *ops, void *state,
                              uint32_t device_count, const ingot_context_info_t *info,
                              const struct memory_cache_ops *program_ops)
{
    static const ingot_context_info_t defaults = INGOT_CONTEXT_INFO_INIT;
    ingot_context_info_t known_info;
    ingot_backend_ops_t known_ops;
    ingot_allocator_t allocator;
    struct environment environment;

    if (context == NULL || !STRUCT_READ(known_ops, ops) || !STRUCT_READ(known_info, info != NULL ? info : &defaults))
        return error_set(INGOT_INVALID_ARGUMENTS, "context or ops is NULL, or a struct_size is not set");
    if (device_count == 0 || device_count > INT32_MAX)
        return error_set(INGOT_INVALID_ARGUMENTS, "a context needs at least one device");
    if (memory_init(&allocator, known_info.allocator) != INGOT_SUCCESS)
        return error_set(INGOT_INVALID_ARGUMENTS, "the allocator lacks a function");
    if ((known_info.flags & ~(uint32_t)(INGOT_CONTEXT_IGNORE_ENVIRONMENT | INGOT_CONTEXT_NO_HEADER_MEMO)) != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "info has unknown flags: %#x", (unsigned)known_info.flags);
    const bool ignores_environment = (known_info.flags & INGOT_CONTEXT_IGNORE_ENVIRONMENT) != 0;
    ingot_status_t status = check_ops(&known_ops);
    if (status == INGOT_SUCCESS)
        status = environment_read(&environment, ignores_environment, known_info.cache_capacity);
    if (status != INGOT_SUCCESS)
        return status;

    struct ingot_context *made = memory_allocate_zeroed(&allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    made->allocator = allocator;
    striped_count_init(&made->references);
    made->ops = known_ops;
    made->state = state;
    made->device_count = device_count;
    made->trace.file = -1;
    status = fill_context(made, &known_info, program_ops, &environment);
    if (status != INGOT_SUCCESS) {
        destroy_context(made);
        return status;
    }
    if (!ignores_environment) {
        made->metrics = (struct metrics_source){
            .count_hits = count_program_hits, .user = made->programs, .backend = made->ops.name};
        if (metrics_begin(&made->metrics))
            trace_count(&made->trace, made->ops.name);
        environment_tell_unknown(&made->trace);
    }
    *context = made;
    return INGOT_SUCCESS;
}

ingot_status_t context_create_over(struct ingot_context **context, struct ingot_context *target, void *state)
{
    struct ingot_context *made = memory_allocate_zeroed(&target->allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    made->allocator = target->allocator;
    striped_count_init(&made->references);
    made->ops = target->ops;
    made->state = state;
    made->target = target;
    made->device_count = target->device_count;
    made->identities = target->identities;
    made->compile_options = target->compile_options;
    made->link_options = target->link_options;
    made->text_rules = target->text_rules;
    made->native_builds = target->native_builds;
    made->header_memo = target->header_memo;
    made->trace = target->trace;
    made->program_ops = target->program_ops;
    context_reference(target);
    *context = made;
    return INGOT_SUCCESS;
}

struct memory_cache *context_programs(struct ingot_context *context)
{
    static const struct memory_cache_limits nothing = {.max_entries = 0};
    if (context->programs == NULL && memory_cache_create(&context->programs, &context->allocator, context->program_ops,
                                                         context, &nothing) != INGOT_SUCCESS)
        context->programs = NULL;
    return context->programs;
}

void context_reference(struct ingot_context *context)
{
    striped_count_add(&context->references);
}

static void end_context(void *user, void *unused)
{
    struct ingot_context *context = user;
    void (*const destroy_state)(void *) = context->ops.destroy;
    void *state = context->state;

    (void)unused;
    destroy_context(context);
    destroy_state(state);
}

void context_unreference(struct ingot_context *context)
{
    if (striped_count_drop(&context->references))
        error_keep(end_context, context, NULL);
}

void ingot_context_retain(ingot_context_t context)
{
    if (context != NULL)
        striped_count_hold(&context->references);
}

void ingot_context_release(ingot_context_t context)
{
    if (context == NULL || !striped_count_release(&context->references))
        return;
    metrics_end(&context->metrics);
    if (context->programs != NULL)
        memory_cache_close(context->programs);
    context_unreference(context);
}

const char *ingot_context_get_backend_name(const_ingot_context_t context)
{
    return context != NULL ? context->ops.name : "";
}

ingot_status_t ingot_context_get_device_info(const_ingot_context_t context, uint32_t device_index,
                                             ingot_device_info_t *info)
{
    ingot_device_info_t known = INGOT_DEVICE_INFO_INIT;

    if (context == NULL || device_index >= context->device_count)
        return error_set(INGOT_INVALID_ARGUMENTS, "context is NULL or has no device %u", (unsigned)device_index);
    if (context->ops.get_device_info != NULL) {
        const ingot_status_t status = context->ops.get_device_info(context->state, device_index, &known);
        if (status != INGOT_SUCCESS)
            return status;
    }
    if (!STRUCT_WRITE(info, known))
        return error_set(INGOT_INVALID_ARGUMENTS, "info is NULL, or its struct_size is not set");
    return INGOT_SUCCESS;
}

void ingot_context_emit_event(const_ingot_context_t context, const ingot_event_t *event)
{
    ingot_event_t known;

    if (context == NULL || !trace_wanted(&context->trace) || !STRUCT_READ(known, event))
        return;
    known.group = known.group != NULL ? known.group : "";
    known.name = known.name != NULL ? known.name : "";
    known.reason = known.reason != NULL ? known.reason : "";
    known.session = known.session != NULL ? known.session : "";
    trace_emit(&context->trace, &known);
}

void *ingot_context_get_backend_state(const_ingot_context_t context, const ingot_backend_ops_t *ops)
{
    return context != NULL && ops != NULL && context->ops.build == ops->build ? context->state : NULL;
}

ingot_status_t context_get_identity(struct ingot_context *context, uint32_t device,
                                    const struct device_identity **identity)
{
    struct device_identity *known = atomic_load_explicit(&context->identities[device], memory_order_acquire);
    if (known == NULL) {
        struct device_identity *made = NULL;
        const ingot_status_t status = device_identity_create(&made, &context->allocator, context->header_memo,
                                                             &context->ops, context->state, device);
        if (status != INGOT_SUCCESS)
            return status;
        /* Two threads may ask the driver at once; the first identity is kept. The release pairs with the acquires. */
        if (atomic_compare_exchange_strong_explicit(&context->identities[device], &known, made, memory_order_acq_rel,
                                                    memory_order_acquire))
            known = made;
        else
            device_identity_destroy(made, &context->allocator);
    }
    *identity = known;
    return INGOT_SUCCESS;
}

const char *context_compiler_change(struct ingot_context *context, size_t device_count, const uint32_t *devices)
{
    const char *change = text_rules_are_current(&context->text_rules, &context->allocator)
                             ? NULL
                             : "a variable with the compiler's options has changed since the context read it";
    for (size_t i = 0; change == NULL && i < device_count; ++i) {
        const struct device_identity *identity =
            atomic_load_explicit(&context->identities[devices[i]], memory_order_acquire);
        if (identity != NULL)
            change = device_identity_change(identity, &context->allocator);
    }
    return change;
}

bool context_make_room(struct ingot_context *context, ingot_status_t status)
{
    return status == INGOT_OUT_OF_MEMORY && context->programs != NULL && memory_cache_make_room(context->programs);
}

/* ---- the in-memory cache ---- */

ingot_status_t ingot_context_clear_cache(ingot_context_t context, const char *group)
{
    if (context == NULL)
        return error_null_argument("context");
    memory_cache_clear(context->programs, group, EVICTED_CLEAR);
    return INGOT_SUCCESS;
}

static uint64_t load_relaxed(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit((_Atomic uint64_t *)counter, memory_order_relaxed);
}

ingot_status_t ingot_context_get_cache_stats(const_ingot_context_t context, ingot_cache_stats_t *stats)
{
    ingot_cache_stats_t known = INGOT_CACHE_STATS_INIT;
    struct memory_cache_counts counts;

    if (context == NULL)
        return error_null_argument("context");
    memory_cache_get_counts(context->programs, &counts);
    known.hits = counts.hits;
    known.misses = counts.misses;
    known.waits = counts.waits;
    known.builds = load_relaxed(&context->counters.builds);
    known.build_failures = load_relaxed(&context->counters.build_failures);
    known.loads = load_relaxed(&context->counters.loads);
    known.load_failures = load_relaxed(&context->counters.load_failures);
    known.blobs_taken = load_relaxed(&context->counters.blobs_taken);
    known.evictions_count = counts.evictions[EVICTED_COUNT];
    known.evictions_bytes = counts.evictions[EVICTED_BYTES];
    known.evictions_groups = counts.evictions[EVICTED_GROUPS];
    known.evictions_clear = counts.evictions[EVICTED_CLEAR];
    known.evictions_memory = counts.evictions[EVICTED_MEMORY];
    known.programs = counts.entries;
    known.bytes = counts.bytes;
    known.groups = counts.groups;
    const struct memory_cache_limits *limits = memory_cache_get_limits(context->programs);
    known.max_programs = limits->max_entries;
    known.max_bytes = limits->max_bytes;
    known.max_groups = limits->max_groups;
    known.flags = (limits->max_entries == 0 ? (uint32_t)INGOT_CACHE_OFF : 0) |
                  (limits->drops_least_used_group ? (uint32_t)INGOT_CACHE_LRU_GROUPS : 0);
    return STRUCT_WRITE(stats, known)
               ? INGOT_SUCCESS
               : error_set(INGOT_INVALID_ARGUMENTS, "stats is NULL, or its struct_size is not set");
}

/* ---- the memo of headers ---- */

ingot_header_memo_t ingot_context_get_header_memo(const_ingot_context_t context)
{
    return context != NULL ? context->header_memo : NULL;
}

void context_share_memo(struct ingot_context *context, struct ingot_header_memo *memo)
{
    header_memo_retain(memo);
    context->header_memo = memo;
}

/* Computes a digest that identifies Ingot's code, because another version may resolve includes differently. The
 * version number alone would not distinguish a developer's builds. */
static ingot_status_t identify_build(uint8_t digest[DIGEST_SIZE])
{
    uint8_t room[256];
    const uint8_t *build_id = NULL;
    size_t build_id_size = 0;
    const size_t version_size = strlen(ingot_version()) + 1;
    const struct link_map *library = library_of_function((const void *)(uintptr_t)&identify_build);
    if (library == NULL || !library_build_id(library, &build_id, &build_id_size) ||
        version_size + build_id_size > sizeof(room))
        return error_set(INGOT_UNIMPLEMENTED, "the Ingot library has no build-id, without which probes cannot be kept");
    memcpy(room, ingot_version(), version_size);
    memcpy(room + version_size, build_id, build_id_size);
    digest_of(version_size + build_id_size, room, digest);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_header_memo_keep(ingot_header_memo_t memo, const ingot_probes_keeper_t *keeper, void *user)
{
    uint8_t build[DIGEST_SIZE];
    ingot_status_t status = identify_build(build);
    if (status == INGOT_SUCCESS)
        status = header_memo_keep(memo, build, keeper, user);
    if (status != INGOT_SUCCESS)
        keeper->release(user);
    return status;
}

/* ---- memory of backends ---- */

/* A backend allocates before its context exists, when the application's allocator is not checked yet. If that allocator
 * is missing or incomplete, the C library's allocator is used. */
static ingot_allocator_t get_usable_allocator(const ingot_allocator_t *allocator)
{
    ingot_allocator_t usable;
    if (memory_init(&usable, allocator) != INGOT_SUCCESS)
        (void)memory_init(&usable, NULL);
    return usable;
}

void *ingot_allocate(const ingot_allocator_t *allocator, size_t size)
{
    const ingot_allocator_t usable = get_usable_allocator(allocator);
    return memory_allocate_zeroed(&usable, size);
}

void ingot_deallocate(const ingot_allocator_t *allocator, void *memory, size_t size)
{
    const ingot_allocator_t usable = get_usable_allocator(allocator);
    memory_free(&usable, memory, size);
}

ingot_allocator_t ingot_context_info_get_allocator(const ingot_context_info_t *info)
{
    const ingot_allocator_t none = {NULL, NULL, NULL};
    ingot_context_info_t known;

    return STRUCT_READ(known, info) && known.allocator != NULL ? *known.allocator : none;
}

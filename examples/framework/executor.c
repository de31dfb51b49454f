/*
 * executor.c - runs layers of any shape, and keeps their programs and objects in two caches; see executor.h.
 */
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { NAME_SIZE = 48, OPTIONS_SIZE = 64 };

/* ---- the objects ---- */

/* A plan to run a layer of one shape. It holds references to its kernels, which keep their program alive even after the
 * cache has evicted it. */
struct plan {
    struct object object; /* must be first, as in struct values */
    ingot_kernel_t forward;
    ingot_kernel_t backward;
};

/* The packed bias, or the data that a forward operation leaves for the backward operation. */
struct values {
    struct object object;
    double values[];
};

static void finish_plan(struct object *object)
{
    struct plan *plan = (struct plan *)object;
    ingot_kernel_release(plan->forward);
    ingot_kernel_release(plan->backward);
}

static struct values *make_values(struct executor *executor, size_t count)
{
    return object_make(executor->counts, sizeof(struct values) + count * sizeof(double), NULL);
}

/* ---- programs, by shape ---- */

static ingot_source_t make_source(ingot_source_kind_t kind, const char *text, const char *name)
{
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    ingot_source_t source = NULL;
    info.kind = kind;
    info.bytes = text;
    info.size = strlen(text);
    info.name = name;
    check_ingot(ingot_source_create(&source, &info), "source");
    return source;
}

/* Creates the descriptor of a shape's program. Each shape has its own group, so the in-memory cache's limit on groups
 * limits the number of shapes. */
static ingot_program_desc_t describe(const struct executor *executor, const struct shape *shape, const char *group)
{
    ingot_source_t source = make_source(executor->device->kind, layer_source, "layer");
    ingot_source_t dialect = make_source(INGOT_SOURCE_HEADER, executor->device->dialect, "dialect.h");
    char options[OPTIONS_SIZE];
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_program_desc_t desc = NULL;

    (void)snprintf(options, sizeof(options), "-DROWS=%zu -DCOLUMNS=%zu", shape->rows, shape->columns);
    info.sources = &source;
    info.source_count = 1;
    info.headers = &dialect;
    info.header_count = 1;
    info.compile_options = options;
    info.group = group;
    check_ingot(ingot_program_desc_create(&desc, executor->device->context, &info), "descriptor");
    ingot_source_release(dialect);
    ingot_source_release(source);
    return desc;
}

static ingot_program_t get_program(struct executor *executor, ingot_program_desc_t desc)
{
    ingot_program_t program = NULL;
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    if (executor->storage == NULL)
        check_ingot(ingot_program_get(&program, desc, 0), "program");
    else
        check_ingot(ingot_persist_program_create(&program, desc, executor->storage, &origin), "program");
    if (origin == INGOT_ORIGIN_STORAGE)
        atomic_fetch_add_explicit(&executor->from_storage, 1, memory_order_relaxed);
    return program;
}

/* ---- objects, by session and shape ---- */

struct request {
    struct executor *executor;
    const struct shape *shape;
    const char *group;
};

/* Creates a plan; called by the object cache. Threads that request the same plan wait for it. Threads that request a
 * different one do not. */
static ingot_status_t make_plan(void **value, void *user)
{
    const struct request *request = user;
    struct plan *plan = object_make(request->executor->counts, sizeof(*plan), finish_plan);
    ingot_program_desc_t desc = describe(request->executor, request->shape, request->group);
    ingot_program_t program = get_program(request->executor, desc);

    check_ingot(ingot_kernel_create(&plan->forward, program, 0, "forward"), "kernel");
    check_ingot(ingot_kernel_create(&plan->backward, program, 0, "backward"), "kernel");
    ingot_program_release(program);
    ingot_program_desc_release(desc);
    *value = plan;
    return INGOT_SUCCESS;
}

static ingot_status_t make_bias(void **value, void *user)
{
    const struct request *request = user;
    struct values *bias = make_values(request->executor, shape_count(request->shape));
    layer_pack_bias(request->shape, bias->values);
    *value = bias;
    return INGOT_SUCCESS;
}

/* Returns an object of a session and shape, and creates it if necessary. The reference stays valid until it is
 * released, even if the cache drops the shape. */
static ingot_object_t get_object(struct executor *executor, const char *session, const struct shape *shape,
                                 const char *name, ingot_object_creator_t creator)
{
    char group[SHAPE_NAME_SIZE];
    struct request request = {executor, shape, group};
    ingot_object_t object = NULL;
    shape_get_name(shape, group);
    check_ingot(
        ingot_object_cache_get_or_create(&object, executor->objects, session, group, name, creator, &request, NULL),
        name);
    object_check(ingot_object_get_value(object));
    return object;
}

static const struct plan *plan_of(ingot_object_t object)
{
    return ingot_object_get_value(object);
}

static double *values_of(ingot_object_t object)
{
    return ((struct values *)ingot_object_get_value(object))->values;
}

static void get_saved_name(size_t step, char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "saved by step %zu", step);
}

/* ---- operations ---- */

static double value_of(size_t step, size_t index)
{
    return (double)((step * 31 + index * 17) % 101) / 16 - 3;
}

/* Runs a forward operation. Returns its result as an object that is not in the cache yet. */
static struct values *compute_forward(struct executor *executor, const char *session, const struct shape *shape,
                                      size_t step, struct scratch *scratch)
{
    const size_t count = shape_count(shape);
    ingot_object_t plan = get_object(executor, session, shape, "plan", make_plan);
    ingot_object_t bias = get_object(executor, session, shape, "bias", make_bias);
    struct values *result = make_values(executor, layer_forward_out(shape));

    for (size_t i = 0; i < count; ++i)
        scratch->in[i] = value_of(step, i);
    memcpy(scratch->in + count, values_of(bias), count * sizeof(double));
    executor->device->run(executor->device, plan_of(plan)->forward, shape->rows, scratch->in, layer_forward_in(shape),
                          result->values, layer_forward_out(shape));
    check(layer_is_forward(shape, scratch->in, result->values), "a forward operation's result is wrong");
    ingot_object_release(bias);
    ingot_object_release(plan);
    return result;
}

void executor_forward(struct executor *executor, const char *session, const struct shape *shape, size_t step,
                      struct scratch *scratch)
{
    char group[SHAPE_NAME_SIZE];
    char name[NAME_SIZE];
    struct values *result = compute_forward(executor, session, shape, step, scratch);

    shape_get_name(shape, group);
    get_saved_name(step, name);
    check_ingot(ingot_object_cache_set(NULL, executor->objects, session, group, name, result, NULL), name);
}

void executor_backward(struct executor *executor, const char *session, const struct shape *shape, size_t step,
                       struct scratch *scratch)
{
    const size_t count = shape_count(shape);
    char group[SHAPE_NAME_SIZE];
    char name[NAME_SIZE];
    ingot_object_t saved = NULL;

    shape_get_name(shape, group);
    get_saved_name(step, name);
    /* Takes the forward result out of the cache, because no other thread needs it. If the cache has dropped the shape,
     * computes the result again. */
    if (ingot_object_cache_take(&saved, executor->objects, session, group, name) == INGOT_SUCCESS) {
        object_check(ingot_object_get_value(saved));
        memcpy(scratch->in + count, values_of(saved), layer_forward_out(shape) * sizeof(double));
        ingot_object_release(saved);
    } else {
        struct values *again = compute_forward(executor, session, shape, step, scratch);
        memcpy(scratch->in + count, again->values, layer_forward_out(shape) * sizeof(double));
        object_end(again, NULL);
        atomic_fetch_add_explicit(&executor->recomputed, 1, memory_order_relaxed);
    }
    ingot_object_t plan = get_object(executor, session, shape, "plan", make_plan);
    for (size_t i = 0; i < count; ++i)
        scratch->in[i] = value_of(step + 1, i);
    executor->device->run(executor->device, plan_of(plan)->backward, shape->rows, scratch->in, layer_backward_in(shape),
                          scratch->out, layer_backward_out(shape));
    check(layer_is_backward(shape, scratch->in, scratch->out), "a backward operation's result is wrong");
    ingot_object_release(plan);
}

/* ---- the executor and its limits ---- */

void executor_open(struct executor *executor, struct device *device, ingot_storage_t storage,
                   struct object_counts *counts, size_t max_shapes, size_t session_count)
{
    const ingot_allocator_t allocator = object_counting_allocator(counts);
    ingot_object_cache_info_t info = INGOT_OBJECT_CACHE_INFO_INIT;
    ingot_object_cache_limits_t limits = INGOT_OBJECT_CACHE_LIMITS_INIT;

    *executor = (struct executor){.device = device, .storage = storage, .counts = counts};
    info.allocator = &allocator;
    limits.max_groups = max_shapes * session_count;
    info.limits = &limits;
    info.destructor = object_end;
    check_ingot(ingot_object_cache_create(&executor->objects, &info), "a cache of objects");
}

void executor_close(struct executor *executor)
{
    ingot_object_cache_release(executor->objects);
}

void executor_warm_up(struct executor *executor, const struct shape *largest, struct scratch *scratch)
{
    char group[SHAPE_NAME_SIZE];
    executor_forward(executor, "warm-up", largest, 0, scratch);
    executor_backward(executor, "warm-up", largest, 0, scratch);
    shape_get_name(largest, group);
    check_ingot(ingot_object_cache_clear(executor->objects, "warm-up", NULL), "clearing objects");
    check_ingot(ingot_context_clear_cache(executor->device->context, group), "clearing programs");
}

void executor_end_session(struct executor *executor, const char *session)
{
    check_ingot(ingot_object_cache_clear(executor->objects, session, NULL), "clearing a session");
}

/* Adds up the groups in the cache, the dropped groups that threads still hold, and the data of unfinished steps. */
size_t executor_object_limit(size_t max_shapes, size_t session_count, size_t thread_count, size_t step_count,
                             const struct shape *largest)
{
    const size_t group = sizeof(struct plan) + sizeof(struct values) + shape_count(largest) * sizeof(double);
    const size_t saved = sizeof(struct values) + layer_forward_out(largest) * sizeof(double);
    return (max_shapes * session_count + thread_count) * group + (thread_count + step_count) * saved;
}

void scratch_open(struct scratch *scratch, const struct shape *largest)
{
    const size_t in =
        layer_forward_in(largest) > layer_backward_in(largest) ? layer_forward_in(largest) : layer_backward_in(largest);
    scratch->in = malloc(in * sizeof(double));
    scratch->out = malloc(layer_backward_out(largest) * sizeof(double));
    check(scratch->in != NULL && scratch->out != NULL, "memory for a thread");
}

void scratch_close(struct scratch *scratch)
{
    free(scratch->in);
    free(scratch->out);
}

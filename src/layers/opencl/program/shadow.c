/*
 * shadow.c - a shadow: the layer's stand-in for a program, which the application holds; see shadow.h.
 *
 * Locks: the lock of lock.h guards the fields that shadow.h marks. While a shadow is busy, the thread that works on
 * it uses its other fields without the lock.
 */
#include "layers/opencl/program/shadow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/lock.h"
#include "util/cancellation.h"

/* The number of shadows whose is_counted is true. Threads hold the lock to write it, but not to read it. */
static atomic_size_t result_count;

struct shadow *shadow_create(cl_program native, ingot_source_kind_t kind)
{
    struct shadow *shadow = calloc(1, sizeof(*shadow));
    if (shadow == NULL)
        return NULL;
    memcpy(shadow->header, native, sizeof(shadow->header));
    atomic_init(&shadow->native, native);
    shadow->own_references = shadow->first_references = result_count_references(native);
    shadow->kind = kind;
    shadow->references = 1;
    lock_take();
    handles_add(&shadow->by_shadow, shadow, shadow);
    handles_add(&shadow->by_native, native, shadow);
    lock_release();
    return shadow;
}

struct shadow *shadow_create_linked(cl_program native, struct result *result, struct recipe *recipe,
                                    ingot_program_t waiting, ingot_program_desc_t waiting_desc)
{
    const cl_program known = native != NULL ? native : result->native;
    struct shadow *shadow = calloc(1, sizeof(*shadow));
    if (shadow == NULL)
        return NULL;
    memcpy(shadow->header, known, sizeof(shadow->header));
    atomic_init(&shadow->native, native);
    shadow->own_references = native != NULL ? result_count_references(native) : 0;
    shadow->first_references = 1;
    shadow->context = contexts_acquire(known);
    shadow->is_drivers = native != NULL;
    shadow->recipe = recipe;
    shadow->waiting = waiting;
    shadow->waiting_desc = waiting_desc;
    shadow->references = 1;
    shadow->is_counted = true;
    shadow->result = result;
    lock_take();
    (void)atomic_fetch_add_explicit(&result_count, 1, memory_order_relaxed);
    handles_add(&shadow->by_shadow, shadow, shadow);
    handles_add(native != NULL ? &shadow->by_native : &shadow->by_result, known, shadow);
    lock_release();
    return shadow;
}

struct recipe *shadow_create_recipe(const struct link_call *call)
{
    struct recipe *recipe = calloc(1, sizeof(*recipe) + call->object_count * sizeof(struct object *));
    if (recipe == NULL)
        return NULL;
    recipe->options = call->options != NULL ? strdup(call->options) : NULL;
    recipe->object_count = call->object_count;
    for (size_t i = 0; i < call->object_count; ++i) {
        recipe->objects[i] = call->objects[i];
        object_retain(recipe->objects[i]);
    }
    if (call->options == NULL || recipe->options != NULL)
        return recipe;
    shadow_destroy_recipe(recipe);
    return NULL;
}

void shadow_destroy_recipe(struct recipe *recipe)
{
    if (recipe == NULL)
        return;
    for (size_t i = 0; i < recipe->object_count; ++i)
        object_release(recipe->objects[i]);
    free(recipe->options);
    free(recipe);
}

/* Requires the lock. */
static void remove_result(struct shadow *shadow)
{
    if (shadow->is_counted)
        (void)atomic_fetch_sub_explicit(&result_count, 1, memory_order_relaxed);
    shadow->is_counted = false;
    handles_remove(&shadow->by_result);
}

void shadow_forget(struct shadow *shadow)
{
    handles_remove(&shadow->by_shadow);
    handles_remove(&shadow->by_native);
    remove_result(shadow);
}

bool shadow_has_any_result(void)
{
    return atomic_load_explicit(&result_count, memory_order_relaxed) > 0;
}

void shadow_destroy(struct shadow *shadow)
{
    result_release(shadow->result);
    object_release(shadow->object);
    shadow_destroy_recipe(shadow->recipe);
    ingot_program_release(shadow->waiting);
    ingot_program_desc_release(shadow->waiting_desc);
    contexts_release(shadow->context);
    if (shadow->native != NULL)
        (void)layer_target.clReleaseProgram(shadow->native);
    free(shadow->constants);
    free(shadow);
}

struct shadow *shadow_find_of_native(cl_program native)
{
    lock_take();
    struct shadow *shadow = handles_find(native);
    lock_release();
    return shadow;
}

struct shadow *shadow_find(cl_program program)
{
    struct shadow *shadow = shadow_find_of_native(program);
    return (void *)shadow == (void *)program ? shadow : NULL;
}

cl_program shadow_find_native(cl_program program)
{
    struct shadow *shadow = shadow_find(program);
    return shadow != NULL ? shadow->native : program;
}

bool shadow_has_result(struct shadow *shadow)
{
    lock_take();
    const bool has = shadow->result != NULL;
    lock_release();
    return has;
}

void shadow_begin_work(struct shadow *shadow, bool is_building)
{
    const int cancellation = cancellation_hold();
    lock_take();
    while (shadow->is_busy)
        lock_wait();
    shadow->is_busy = true;
    shadow->is_building = is_building;
    shadow->cancellation = cancellation;
    lock_release();
}

void shadow_end_work(struct shadow *shadow)
{
    lock_take();
    const int cancellation = shadow->cancellation;
    shadow->is_busy = false;
    shadow->is_building = false;
    lock_wake();
    lock_release();
    cancellation_allow(cancellation);
}

struct result *shadow_take_result(struct shadow *shadow)
{
    lock_take();
    struct result *result = shadow->result;
    if (result != NULL)
        remove_result(shadow);
    shadow->result = NULL;
    lock_release();
    return result;
}

bool shadow_set_result(struct shadow *shadow, struct result *result)
{
    lock_take();
    const bool is_new = handles_find(result->native) == NULL;
    if (is_new) {
        handles_add(&shadow->by_result, result->native, shadow);
        shadow->result = result;
        shadow->is_counted = true;
        (void)atomic_fetch_add_explicit(&result_count, 1, memory_order_relaxed);
    }
    lock_release();
    return is_new;
}

struct object *shadow_get_object(struct shadow *shadow)
{
    lock_take();
    struct object *object = shadow->object;
    if (object != NULL)
        object_retain(object);
    lock_release();
    return object;
}

void shadow_set_object(struct shadow *shadow, struct object *object)
{
    lock_take();
    shadow->object = object;
    lock_release();
}

void shadow_forget_object(struct shadow *shadow)
{
    lock_take();
    struct object *object = shadow->object;
    shadow->object = NULL;
    lock_release();
    object_release(object);
}

struct shadow_use shadow_begin_use(cl_program program)
{
    struct shadow_use use = {NULL, NULL, NULL, program};
    lock_take();
    struct shadow *shadow = handles_find(program);
    if ((void *)shadow == (void *)program && shadow != NULL) {
        use.shadow = shadow;
        use.result = shadow->result;
        use.native = use.result != NULL ? use.result->native : shadow->native;
        if (use.result != NULL)
            result_retain(use.result);
        use.object = shadow->object;
        if (use.object != NULL)
            object_retain(use.object);
    }
    lock_release();
    return use;
}

void shadow_end_use(struct shadow_use *use)
{
    result_release(use->result);
    object_release(use->object);
}

void shadow_pin(struct shadow *shadow)
{
    lock_take();
    ++shadow->pin_count;
    lock_release();
}

void shadow_unpin(struct shadow *shadow)
{
    lock_take();
    --shadow->pin_count;
    lock_release();
}

static cl_uint count_uses_of_result(struct shadow *shadow)
{
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow);
    const cl_uint count = use.result != NULL ? result_count_uses(use.result) : 0;
    shadow_end_use(&use);
    return count;
}

cl_uint shadow_count_uses(struct shadow *shadow)
{
    const cl_program native = shadow->native;
    const cl_uint count = native != NULL ? result_count_references(native) : 0;
    return (count > shadow->own_references ? count - shadow->own_references : 0) + count_uses_of_result(shadow);
}

bool shadow_has_kernels_of_result(struct shadow *shadow)
{
    return count_uses_of_result(shadow) > 0;
}

static bool link_native(struct shadow *shadow)
{
    struct link_call call = {.context = shadow->context->native,
                             .options = shadow->recipe->options,
                             .object_count = shadow->recipe->object_count,
                             .objects = shadow->recipe->objects};
    const bool is_linked = link_call_make(&call) == INGOT_SUCCESS && call.error == CL_SUCCESS && call.native != NULL;
    if (!is_linked && call.native != NULL) /* Intel's driver returns a program together with an error */
        (void)layer_target.clReleaseProgram(call.native);
    if (!is_linked)
        return false;
    shadow->own_references = result_count_references(call.native);
    lock_take();
    shadow->native = call.native;
    handles_add(&shadow->by_native, call.native, shadow);
    lock_release();
    return true;
}

/* Requires that this thread has begun work on the shadow. */
static bool build_native(struct shadow *shadow, const struct result *result)
{
    if (shadow->recipe != NULL)
        return shadow->native != NULL || (shadow->context != NULL && link_native(shadow));
    if (result != NULL)
        return result_is_unchanged(result) &&
               layer_target.clBuildProgram(shadow->native, 0, NULL, result->has_options ? result->options : NULL, NULL,
                                           NULL) == CL_SUCCESS;
    struct object *object = shadow_get_object(shadow);
    const bool is_built = object != NULL && object_compile_native(object, shadow->native) == CL_SUCCESS;
    object_release(object);
    return is_built;
}

bool shadow_build_native(struct shadow *shadow)
{
    shadow_begin_work(shadow, false);
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow);
    if (!shadow->is_native_built)
        shadow->is_native_built = build_native(shadow, use.result);
    shadow_end_use(&use);
    const bool is_built = shadow->is_native_built;
    shadow_end_work(shadow);
    return is_built;
}

cl_program shadow_use_compiled(const struct shadow_use *use)
{
    if (use->object == NULL)
        return use->native;
    const cl_program compiled = object_get_native(use->object);
    return compiled != NULL ? compiled : use->native;
}

cl_program shadow_use_twin(const struct shadow_use *use)
{
    struct shadow *shadow = use->shadow;
    if (use->result == NULL)
        return NULL;
    if (shadow->recipe != NULL) /* its objects keep their texts */
        return shadow_build_native(shadow) ? shadow->native : NULL;
    return result_get_twin(use->result, shadow->context->native);
}

cl_program shadow_use_options_twin(const struct shadow_use *use)
{
    if (use->object != NULL)
        return object_get_options_twin(use->object);
    if (use->result != NULL && use->shadow->recipe == NULL)
        return result_get_options_twin(use->result, use->shadow->context->native);
    return shadow_use_twin(use);
}

cl_program shadow_replace_result(const struct shadow_use *use)
{
    struct shadow *shadow = use->shadow;
    if (shadow->recipe != NULL)
        return shadow_use_twin(use);
    struct result *twin = result_create_of_twin(use->result, shadow->context->native);
    if (twin == NULL)
        return NULL;
    shadow_begin_work(shadow, false);
    struct result *before = shadow_take_result(shadow);
    const bool is_replaced = before == use->result && result_count_uses(before) == 0;
    if (is_replaced)
        (void)shadow_set_result(shadow, twin);
    else if (before != NULL)
        (void)shadow_set_result(shadow, before);
    shadow_end_work(shadow);
    result_release(is_replaced ? before : twin);
    return is_replaced ? twin->native : NULL;
}

struct shadow_use shadow_begin_call(cl_program program)
{
    struct shadow_use use = shadow_begin_use(program);
    use.native = shadow_use_compiled(&use);
    return use;
}

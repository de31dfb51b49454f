/*
 * shadow.c - the program that the application holds.
 *
 * Locks: lock.h, for the fields that shadow.h says. A thread works on a shadow while it is busy, without the lock.
 */
#include "layers/opencl/program/shadow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/lock.h"

static atomic_size_t result_count; /* changed under the lock */

struct shadow *shadow_create(cl_program native, ingot_source_kind_t kind)
{
    struct shadow *shadow = calloc(1, sizeof(*shadow));
    if (shadow == NULL)
        return NULL;
    memcpy(shadow->header, native, sizeof(shadow->header));
    shadow->native = native;
    shadow->own_references = result_count_references(native);
    shadow->kind = kind;
    shadow->references = 1;
    lock_take();
    handles_add(&shadow->by_shadow, shadow, shadow);
    handles_add(&shadow->by_native, native, shadow);
    lock_release();
    return shadow;
}

/* Under the lock. */
static void remove_result(struct shadow *shadow)
{
    if (shadow->result != NULL)
        (void)atomic_fetch_sub_explicit(&result_count, 1, memory_order_relaxed);
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
    contexts_release(shadow->context);
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

void shadow_begin_work(struct shadow *shadow, bool is_building)
{
    lock_take();
    while (shadow->is_busy)
        lock_wait();
    shadow->is_busy = true;
    shadow->is_building = is_building;
    lock_release();
}

void shadow_end_work(struct shadow *shadow)
{
    lock_take();
    shadow->is_busy = false;
    shadow->is_building = false;
    lock_wake();
    lock_release();
}

struct result *shadow_take_result(struct shadow *shadow)
{
    lock_take();
    struct result *result = shadow->result;
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
        (void)atomic_fetch_add_explicit(&result_count, 1, memory_order_relaxed);
    }
    lock_release();
    return is_new;
}

struct shadow_use shadow_begin_use(cl_program program)
{
    struct shadow_use use = {NULL, NULL, program};
    lock_take();
    struct shadow *shadow = handles_find(program);
    if ((void *)shadow == (void *)program && shadow != NULL) {
        use.shadow = shadow;
        use.result = shadow->result;
        use.native = use.result != NULL ? use.result->native : shadow->native;
        if (use.result != NULL)
            result_retain(use.result);
    }
    lock_release();
    return use;
}

void shadow_end_use(struct shadow_use *use)
{
    result_release(use->result);
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
    const cl_uint count = result_count_references(shadow->native);
    return (count > shadow->own_references ? count - shadow->own_references : 0) + count_uses_of_result(shadow);
}

bool shadow_has_kernels_of_result(struct shadow *shadow)
{
    return count_uses_of_result(shadow) > 0;
}

bool shadow_build_native(struct shadow *shadow)
{
    shadow_begin_work(shadow, false);
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow);
    if (!shadow->is_native_built && use.result != NULL) {
        const char *options = use.result->has_options ? use.result->options : NULL;
        shadow->is_native_built =
            layer_target.clBuildProgram(shadow->native, 0, NULL, options, NULL, NULL) == CL_SUCCESS;
    }
    shadow_end_use(&use);
    const bool is_built = shadow->is_native_built;
    shadow_end_work(shadow);
    return is_built;
}

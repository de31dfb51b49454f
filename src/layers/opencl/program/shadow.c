/*
 * shadow.c - a shadow: the layer's stand-in for a program, which the application holds; see program.h.
 *
 * Locks: the lock of lock.h guards the fields that program.h marks. While a shadow is busy, the thread that works on
 * it uses its other fields without the lock.
 */
#include "layers/opencl/program/program.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "front/lock.h"

#define BUCKET_BITS 12u /* applications have at most a few thousand programs */

/* The table of handles, with chains. The application may pass a shadow or a driver's program, and the layer must not
 * read a driver's memory to find out which one it is. */
static struct handle *buckets[1u << BUCKET_BITS]; /* guarded by the lock */

static struct handle **handle_bucket_of(const void *key)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    return &buckets[mixed >> (64 - BUCKET_BITS)];
}

/* Adds a handle, whose key must not be in the table yet. */
static void handles_add(struct handle *handle, const void *key, struct shadow *shadow)
{
    struct handle **bucket = handle_bucket_of(key);
    *handle = (struct handle){key, shadow, *bucket};
    *bucket = handle;
}

/* Removes a handle. Does nothing if it is not in the table. */
static void handles_remove(struct handle *handle)
{
    if (handle->key == NULL)
        return;
    struct handle **place = handle_bucket_of(handle->key);
    while (*place != handle)
        place = &(*place)->next;
    *place = handle->next;
    handle->key = NULL;
}

static struct shadow *handles_find(const void *key)
{
    const struct handle *handle = *handle_bucket_of(key);
    while (handle != NULL && handle->key != key)
        handle = handle->next;
    return handle != NULL ? handle->shadow : NULL;
}

struct shadow *shadow_create(cl_program native, ingot_source_kind_t kind)
{
    struct shadow *shadow = calloc(1, sizeof(*shadow));
    if (shadow == NULL)
        return NULL;
    memcpy(shadow->header, native, sizeof(shadow->header));
    shadow->native = native;
    shadow->own_references = shadow->first_references = result_count_references(native);
    shadow->kind = kind;
    shadow->references = 1;
    lock_take();
    handles_add(&shadow->by_shadow, shadow, shadow);
    handles_add(&shadow->by_native, native, shadow);
    lock_give();
    return shadow;
}

/* Removes the shadow from the table of handles. The caller holds the lock. */
static void shadow_forget(struct shadow *shadow)
{
    handles_remove(&shadow->by_shadow);
    handles_remove(&shadow->by_native);
    handles_remove(&shadow->by_result);
}

/* Destroys a shadow that no thread can reach anymore. */
static void shadow_destroy(struct shadow *shadow)
{
    result_store_launches(shadow->result);
    result_release(shadow->result);
    contexts_release(shadow->context);
    (void)layer_target.clReleaseProgram(shadow->native);
    free(shadow->earlier_log);
    free(shadow->miss);
    free(shadow->constants);
    free(shadow);
}

void shadow_set_miss(struct shadow *shadow, const char *reason)
{
    char *copy = reason != NULL ? strdup(reason) : NULL;
    lock_take();
    char *before = shadow->miss;
    shadow->miss = copy;
    lock_give();
    free(before);
}

char *shadow_copy_miss(struct shadow *shadow)
{
    lock_take();
    char *copy = shadow->miss != NULL ? strdup(shadow->miss) : NULL;
    lock_give();
    return copy;
}

struct shadow *shadow_find_of_native(cl_program native)
{
    lock_take();
    struct shadow *shadow = handles_find(native);
    lock_give();
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
    lock_give();
    return has;
}

void shadow_begin_work(struct shadow *shadow, bool is_building)
{
    lock_take();
    while (shadow->is_busy)
        lock_wait();
    shadow->is_busy = true;
    shadow->is_building = is_building;
    lock_give();
}

void shadow_end_work(struct shadow *shadow)
{
    lock_take();
    shadow->is_busy = false;
    shadow->is_building = false;
    lock_wake();
    lock_give();
}

struct result *shadow_take_result(struct shadow *shadow)
{
    lock_take();
    struct result *result = shadow->result;
    if (result != NULL)
        handles_remove(&shadow->by_result);
    shadow->result = NULL;
    lock_give();
    return result;
}

bool shadow_set_result(struct shadow *shadow, struct result *result)
{
    lock_take();
    const bool is_new = handles_find(result->native) == NULL;
    if (is_new) {
        handles_add(&shadow->by_result, result->native, shadow);
        shadow->result = result;
    }
    lock_give();
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
    lock_give();
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
    lock_give();
}

void shadow_unpin(struct shadow *shadow)
{
    lock_take();
    --shadow->pin_count;
    lock_give();
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
    if (!shadow->is_native_built)
        shadow->is_native_built =
            use.result != NULL && result_is_unchanged(use.result) &&
            compiler_build(shadow->native, use.result->has_options ? use.result->options : NULL) == use.result->error;
    shadow_end_use(&use);
    const bool is_built = shadow->is_native_built;
    shadow_end_work(shadow);
    return is_built;
}

cl_program shadow_find_built(cl_program program)
{
    struct shadow *shadow = shadow_find(program);
    struct shadow_use use = shadow_begin_use(program);
    if (use.result != NULL && use.result->error == CL_SUCCESS && shadow_build_native(shadow))
        use.native = shadow->native;
    shadow_end_use(&use); /* the shadow keeps the program alive */
    return use.native;
}

cl_program shadow_replace_result(struct shadow *shadow, const struct result *rejected)
{
    if (result_count_uses(rejected) > 0 || !shadow_build_native(shadow))
        return NULL;
    shadow_begin_work(shadow, false);
    struct result *before = shadow_take_result(shadow);
    const bool is_replaced = before == rejected;
    if (is_replaced)
        shadow->is_drivers = true;
    if (is_replaced || before == NULL || !shadow_set_result(shadow, before))
        result_release(before);
    shadow_end_work(shadow);
    return is_replaced ? shadow->native : NULL;
}

#define MOST_OTHERS 16u

static atomic_size_t waiting_count; /* number of waiting shadows; written only by threads that hold the lock */
/* The list of waiting shadows, guarded by the lock. The shadow that was tried last is at the end. */
static struct shadow *first_waiting;
static struct shadow *last_waiting;

bool reclaim_is_due(void)
{
    return atomic_load_explicit(&waiting_count, memory_order_relaxed) > 0;
}

/* Adds a shadow to the list. Requires the lock, like the next function. */
static void begin_waiting(struct shadow *shadow)
{
    shadow->previous_waiting = last_waiting;
    shadow->next_waiting = NULL;
    *(last_waiting != NULL ? &last_waiting->next_waiting : &first_waiting) = shadow;
    last_waiting = shadow;
    (void)atomic_fetch_add_explicit(&waiting_count, 1, memory_order_relaxed);
}

static void end_waiting(struct shadow *shadow)
{
    struct shadow *previous = shadow->previous_waiting;
    struct shadow *next = shadow->next_waiting;
    *(previous != NULL ? &previous->next_waiting : &first_waiting) = next;
    *(next != NULL ? &next->previous_waiting : &last_waiting) = previous;
    (void)atomic_fetch_sub_explicit(&waiting_count, 1, memory_order_relaxed);
}

void reclaim_retain(struct shadow *shadow)
{
    lock_take();
    if (shadow->references++ == 0)
        end_waiting(shadow);
    lock_give();
}

bool reclaim_release(struct shadow *shadow)
{
    lock_take();
    const cl_uint before = shadow->references;
    if (before > 0)
        --shadow->references;
    if (before == 1)
        begin_waiting(shadow);
    lock_give();
    return before > 0;
}

/* If the shadow waits and no other thread needs it, marks it as busy and returns it. Otherwise, returns NULL. Requires
 * the lock. */
static struct shadow *begin_reclaiming(struct shadow *shadow)
{
    if (shadow == NULL || shadow->references > 0)
        return NULL;
    end_waiting(shadow); /* the shadow goes to the end of the list */
    begin_waiting(shadow);
    if (shadow->pin_count > 0)
        return NULL;
    if (shadow->is_busy) {
        shadow->is_to_retry = true;
        return NULL;
    }
    shadow->is_busy = true;
    return shadow;
}

/* Ends what `begin_reclaiming` began. If nothing uses the shadow anymore, removes it from all tables, so that no other
 * thread can reach it, and returns true. Otherwise, sets *is_to_retry if another thread tried to destroy the shadow in
 * the meantime, because the uses may have ended after they were counted. The shadow then stays busy, and this thread
 * must try again. */
static bool end_reclaiming(struct shadow *shadow, bool is_used, bool *is_to_retry)
{
    lock_take();
    const bool is_over = !is_used && shadow->references == 0 && shadow->pin_count == 0;
    if (is_over) {
        shadow_forget(shadow);
        end_waiting(shadow);
    }
    *is_to_retry = !is_over && shadow->is_to_retry;
    shadow->is_busy = *is_to_retry;
    shadow->is_to_retry = false;
    lock_wake();
    lock_give();
    return is_over;
}

/* Destroys a busy shadow if nothing uses it anymore. Does nothing if shadow is NULL. */
static void destroy_if_unused(struct shadow *shadow)
{
    bool is_to_retry = false;
    bool is_over = false;
    if (shadow == NULL)
        return;
    do {
        is_over = end_reclaiming(shadow, shadow_count_uses(shadow) > 0, &is_to_retry);
    } while (is_to_retry);
    if (is_over)
        shadow_destroy(shadow);
}

/* Tries to destroy up to `most` waiting shadows, beginning with those that were tried longest ago. */
static void reclaim_some(size_t most)
{
    const size_t count = atomic_load_explicit(&waiting_count, memory_order_relaxed);
    for (size_t i = 0; i < count && i < most; ++i) {
        lock_take();
        struct shadow *shadow = begin_reclaiming(first_waiting);
        lock_give();
        destroy_if_unused(shadow);
    }
}

void reclaim_try(cl_program program)
{
    if (!reclaim_is_due())
        return;
    lock_take();
    struct shadow *shadow = begin_reclaiming(handles_find(program));
    lock_give();
    destroy_if_unused(shadow);
    reclaim_some(MOST_OTHERS);
}

void reclaim_try_all(void)
{
    reclaim_some(SIZE_MAX);
}

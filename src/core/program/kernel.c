/*
 * kernel.c - entry points of programs; see kernel.h.
 */
#include "core/program/kernel.h"

#include <string.h>

#include "core/base/error.h"
#include "core/memory_cache/cache_hit.h"

void kernel_destroy(struct ingot_kernel *kernel, struct ingot_context *context)
{
    if (kernel == NULL)
        return;
    if (kernel->native != NULL)
        context->ops.destroy_kernel(context->state, kernel->native);
    os_mutex_fini(&kernel->lock);
    alloc_free(&context->allocator, kernel, sizeof(*kernel) + strlen(kernel->name) + 1);
}

static struct ingot_kernel *alloc_kernel(struct ingot_context *context, struct cache_entry *program, uint32_t device,
                                         const char *name)
{
    const size_t name_size = strlen(name) + 1;
    struct ingot_kernel *kernel = alloc_zeroed(&context->allocator, sizeof(*kernel) + name_size);

    if (kernel == NULL || os_mutex_init(&kernel->lock) != INGOT_SUCCESS) {
        alloc_free(&context->allocator, kernel, sizeof(*kernel) + name_size);
        return NULL;
    }
    kernel->program = program;
    kernel->device = device;
    memcpy(kernel->name, name, name_size);
    return kernel;
}

static ingot_status_t make_native(struct ingot_context *context, const struct program_body *body, uint32_t device,
                                  const char *name, void **native)
{
    ingot_status_t status = context->ops.create_kernel(context->state, body->native, device, name, native);
    if (context_make_room(context, status))
        status = context->ops.create_kernel(context->state, body->native, device, name, native);
    return status;
}

static ingot_status_t make_shared(struct cache_entry *program, uint32_t device, const char *name,
                                  _Atomic(struct ingot_kernel *) *place, struct ingot_kernel **kernel)
{
    const struct program_body *body = cache_entry_value(program);
    struct ingot_context *context = body->desc->context;
    struct ingot_kernel *first = NULL;

    struct ingot_kernel *made = alloc_kernel(context, program, device, name);
    if (made == NULL)
        return error_out_of_memory();
    const ingot_status_t status = make_native(context, body, device, name, &made->native);
    if (status != INGOT_SUCCESS) {
        kernel_destroy(made, context);
        return status;
    }
    /* Several threads may make it at once; the first one stays. The release pairs with the acquire in find_shared. */
    if (!atomic_compare_exchange_strong_explicit(place, &first, made, memory_order_acq_rel, memory_order_acquire)) {
        kernel_destroy(made, context);
        made = first;
    }
    *kernel = made;
    return INGOT_SUCCESS;
}

static bool find_device(const struct ingot_program_desc *desc, uint32_t device, size_t *position)
{
    /* Most programs are for all devices, so a device's index is its position. */
    if (device < desc->device_count && desc->device_indices[device] == device) {
        *position = device;
        return true;
    }
    for (size_t i = 0; i < desc->device_count; ++i) {
        if (desc->device_indices[i] == device) {
            *position = i;
            return true;
        }
    }
    return false;
}

uint32_t kernel_name_tag(const char *name)
{
    return (uint32_t)hash128_of(strlen(name), name).low;
}

/* Finds the name's position in by_tag. */
static bool find_name(const struct program_body *body, const char *name, size_t *position)
{
    const uint32_t tag = kernel_name_tag(name);
    size_t low = 0;
    size_t high = body->name_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (body->by_tag[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < body->name_count && body->by_tag[low].tag == tag; ++low) {
        if (strcmp(name, body->names + body->by_tag[low].offset) == 0) {
            *position = low;
            return true;
        }
    }
    return false;
}

/* Finds or makes the shared kernel; the caller's reference to the program becomes the kernel's. desc is the program's
 * or an equal one; *position is the kernel's in body->kernels. */
static ingot_status_t find_shared(struct cache_entry *program, const struct ingot_program_desc *desc, uint32_t device,
                                  const char *name, size_t *position, struct ingot_kernel **kernel)
{
    const struct program_body *body = cache_entry_value(program);
    size_t device_position = 0;
    size_t name_position = 0;

    if (!find_device(desc, device, &device_position))
        return error_set(INGOT_INVALID_ARGUMENTS, "device %u is not one of the program's devices", (unsigned)device);
    if (!find_name(body, name, &name_position))
        return error_set(INGOT_NOT_FOUND, "the program has no kernel %s", name);
    *position = device_position * body->name_count + name_position;
    struct ingot_kernel *known = atomic_load_explicit(&body->kernels[*position], memory_order_acquire);
    if (known == NULL)
        return make_shared(program, device, name, &body->kernels[*position], kernel);
    *kernel = known;
    return INGOT_SUCCESS;
}

/* Returns the kernel whose position the descriptor remembers, if it is the requested one. */
static struct ingot_kernel *recall(const struct ingot_program_desc *desc, const struct program_body *body,
                                   uint32_t device, const char *name)
{
    /* relaxed: it is only a number, and is checked against the program */
    const uint32_t memo = atomic_load_explicit(&((struct ingot_program_desc *)desc)->kernel_memo, memory_order_relaxed);
    if (memo == 0 || memo > desc->device_count * body->name_count)
        return NULL;
    struct ingot_kernel *kernel = atomic_load_explicit(&body->kernels[memo - 1], memory_order_acquire);
    return kernel != NULL && kernel->device == device && strcmp(kernel->name, name) == 0 ? kernel : NULL;
}

/* The first position stays, because threads that use several kernels of one descriptor would overwrite it in turn. */
static void remember(struct ingot_program_desc *desc, size_t position)
{
    if (position < UINT32_MAX && atomic_load_explicit(&desc->kernel_memo, memory_order_relaxed) == 0)
        atomic_store_explicit(&desc->kernel_memo, (uint32_t)position + 1, memory_order_relaxed);
}

ingot_status_t ingot_kernel_create(ingot_kernel_t *kernel, ingot_program_t program, uint32_t device_index,
                                   const char *name)
{
    if (kernel == NULL || program == NULL || name == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "kernel, program or name is NULL");
    size_t position = 0;
    const ingot_status_t status =
        find_shared(program_entry(program), program_body(program)->desc, device_index, name, &position, kernel);
    if (status == INGOT_SUCCESS)
        cache_entry_retain(program_entry(program));
    return status;
}

ingot_status_t ingot_kernel_get(ingot_kernel_t *kernel, const_ingot_program_desc_t desc, uint32_t device_index,
                                const char *name)
{
    ingot_program_t program = NULL;

    if (kernel == NULL || name == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "kernel or name is NULL");
    ingot_status_t status = ingot_program_create(&program, desc);
    if (status != INGOT_SUCCESS)
        return status;
    struct ingot_kernel *known = recall(desc, program_body(program), device_index, name);
    if (known != NULL) {
        *kernel = known;
        return INGOT_SUCCESS;
    }
    size_t position = 0;
    status = find_shared(program_entry(program), desc, device_index, name, &position, kernel);
    if (status == INGOT_SUCCESS)
        remember((struct ingot_program_desc *)desc, position);
    else
        cache_entry_release(program_entry(program));
    return status;
}

ingot_status_t ingot_kernel_clone(ingot_kernel_t *clone, ingot_kernel_t kernel)
{
    if (clone == NULL || kernel == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "clone or kernel is NULL");
    const struct program_body *body = cache_entry_value(kernel->program);
    struct ingot_context *context = body->desc->context;
    if (context->ops.clone_kernel == NULL)
        return error_set(INGOT_UNIMPLEMENTED, "the backend %s cannot clone kernels", context->ops.name);
    struct ingot_kernel *made = alloc_kernel(context, kernel->program, kernel->device, kernel->name);
    if (made == NULL)
        return error_out_of_memory();
    made->is_clone = true;
    atomic_init(&made->references, 1);
    const ingot_status_t status =
        context->ops.clone_kernel(context->state, body->native, kernel->native, &made->native);
    if (status != INGOT_SUCCESS) {
        kernel_destroy(made, context);
        return status;
    }
    cache_entry_retain(made->program);
    *clone = made;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_kernel_retain(ingot_kernel_t kernel)
{
    if (kernel == NULL)
        return error_null_argument("kernel");
    if (kernel->is_clone)
        atomic_fetch_add_explicit(&kernel->references, 1, memory_order_relaxed);
    else
        cache_entry_retain(kernel->program);
    return INGOT_SUCCESS;
}

static void end_clone(void *kernel, void *context)
{
    kernel_destroy(kernel, context);
}

void ingot_kernel_release(ingot_kernel_t kernel)
{
    if (kernel == NULL)
        return;
    struct cache_entry *program = kernel->program;
    if (kernel->is_clone) {
        /* acq_rel: all use of the clone happens before its end */
        if (atomic_fetch_sub_explicit(&kernel->references, 1, memory_order_acq_rel) != 1)
            return;
        const struct program_body *body = cache_entry_value(program);
        error_keep(end_clone, kernel, body->desc->context);
    }
    cache_release_fast(program);
}

ingot_status_t ingot_kernel_lock(ingot_kernel_t kernel)
{
    if (kernel == NULL)
        return error_null_argument("kernel");
    os_mutex_lock(&kernel->lock);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_kernel_unlock(ingot_kernel_t kernel)
{
    if (kernel == NULL)
        return error_null_argument("kernel");
    os_mutex_unlock(&kernel->lock);
    return INGOT_SUCCESS;
}

void *ingot_kernel_get_backend_kernel(const_ingot_kernel_t kernel, const ingot_backend_ops_t *ops)
{
    if (kernel == NULL || ops == NULL)
        return NULL;
    const struct program_body *body = cache_entry_value(kernel->program);
    return body->desc->context->ops.build == ops->build ? kernel->native : NULL;
}

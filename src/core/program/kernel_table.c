/*
 * kernel_table.c - makes and keeps the kernels of a program; see kernel_table.h.
 */
#include "core/program/kernel_table.h"

#include <string.h>

#include "core/base/error.h"

static void kernel_destroy(struct ingot_kernel *kernel, struct ingot_context *context)
{
    if (kernel == NULL)
        return;
    if (kernel->native != NULL)
        context->ops.destroy_kernel(context->state, kernel->native);
    pthread_mutex_destroy(&kernel->lock);
    memory_free(&context->allocator, kernel, sizeof(*kernel) + strlen(kernel->name) + 1);
}

/* ---- the table ---- */

static size_t kernel_count(const struct program_body *body)
{
    return (size_t)body->desc->device_count * body->name_count;
}

static uint32_t *name_offsets(struct kernel_table *table)
{
    return (uint32_t *)(void *)&table->made[table->count];
}

size_t kernel_table_size(const struct program_body *body)
{
    return sizeof(struct kernel_table) + kernel_count(body) * sizeof(_Atomic(struct ingot_kernel *)) +
           body->name_count * sizeof(uint32_t);
}

void kernel_table_destroy(struct program_body *body)
{
    struct ingot_context *context = body->desc->context;
    struct kernel_table *table = atomic_load_explicit(&body->kernels, memory_order_acquire);

    if (table == NULL)
        return;
    for (size_t i = 0; i < table->count; ++i)
        kernel_destroy(atomic_load_explicit(&table->made[i], memory_order_acquire), context);
    memory_free(&context->allocator, table, kernel_table_size(body));
}

struct kernel_table *kernel_table_get(struct program_body *body)
{
    const ingot_allocator_t *allocator = &body->desc->context->allocator;
    struct kernel_table *known = atomic_load_explicit(&body->kernels, memory_order_acquire);
    struct kernel_table *table = known == NULL ? memory_allocate_zeroed(allocator, kernel_table_size(body)) : NULL;
    uint32_t offset = 0;

    if (table == NULL)
        return known;
    table->count = kernel_count(body);
    for (size_t i = 0; i < body->name_count; ++i) {
        name_offsets(table)[i] = offset;
        offset += (uint32_t)strlen(body->names + offset) + 1;
    }
    /* If two threads make the table at once, the first one's is kept. The release pairs with the acquire above. */
    if (atomic_compare_exchange_strong_explicit(&body->kernels, &known, table, memory_order_acq_rel,
                                                memory_order_acquire))
        return table;
    memory_free(allocator, table, kernel_table_size(body));
    return known;
}

/* ---- kernels ---- */

ingot_status_t kernel_table_make(struct cache_entry *program, uint32_t device, const char *name,
                                 _Atomic(struct ingot_kernel *) *place, struct ingot_kernel **kernel)
{
    const struct program_body *body = cache_entry_value(program);
    struct ingot_context *context = body->desc->context;
    struct ingot_kernel *first = NULL;

    struct ingot_kernel *made = memory_allocate_zeroed(&context->allocator, sizeof(*made) + strlen(name) + 1);
    if (made == NULL)
        return error_out_of_memory();
    pthread_mutex_init(&made->lock, NULL);
    made->program = program;
    made->device = device;
    strcpy(made->name, name);
    ingot_status_t status = context->ops.create_kernel(context->state, body->native, device, name, &made->native);
    if (context_make_room(context, status))
        status = context->ops.create_kernel(context->state, body->native, device, name, &made->native);
    if (status != INGOT_SUCCESS) {
        kernel_destroy(made, context);
        return status;
    }
    /* The release pairs with the acquire in find_shared. If another thread stored a kernel first, that kernel is
     * kept. */
    if (!atomic_compare_exchange_strong_explicit(place, &first, made, memory_order_acq_rel, memory_order_acquire)) {
        kernel_destroy(made, context);
        made = first;
    }
    *kernel = made;
    return INGOT_SUCCESS;
}

bool kernel_table_find(const struct program_body *body, struct kernel_table *table, const char *name, size_t *position)
{
    size_t low = 0;
    size_t high = body->name_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, body->names + name_offsets(table)[middle]);
        if (order == 0) {
            *position = middle;
            return true;
        }
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

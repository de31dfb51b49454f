/*
 * kernel.c - makes and keeps the kernels of a program, and implements the public functions for kernels.
 *
 * A kernel belongs to its program. The first request makes it. If several threads request it at once, each makes
 * one, and all get the one that is finished first. It lives as long as the program, and a reference to it is a
 * reference to the program, so it needs no count. There are no locks. The first request for a
 * kernel of a program also makes the table of its kernels.
 */
#include <pthread.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory_cache/cache_hit.h"
#include "core/program/program.h"

struct ingot_kernel {
    pthread_mutex_t lock; /* applications hold it while they set arguments and launch */
    void *native;
    /* the next fields are adjacent, because each request reads them */
    struct cache_entry *program; /* the program that owns the kernel */
    uint32_t device;
    char name[];
};

/* The kernels of a program. An array follows in memory: the offset of each kernel's name in the program's `names`. */
struct kernel_table {
    size_t count;
    /* one per device position and name position, in this order; NULL until requested; release/acquire */
    _Atomic(struct ingot_kernel *) made[];
};

static uint32_t *name_offsets(struct kernel_table *table)
{
    return (uint32_t *)(void *)&table->made[table->count];
}

size_t program_kernels_size(const struct program_body *body)
{
    return sizeof(struct kernel_table) + body->name_count * sizeof(uint32_t) +
           (size_t)body->desc->device_count * body->name_count * sizeof(struct ingot_kernel *);
}

/* Returns the program's table, which the first call makes. Returns NULL if memory has run out. */
static struct kernel_table *get_table(struct program_body *body)
{
    const ingot_allocator_t *allocator = &body->desc->context->allocator;
    struct kernel_table *known = atomic_load_explicit(&body->kernels, memory_order_acquire);
    struct kernel_table *table = known == NULL ? memory_allocate_zeroed(allocator, program_kernels_size(body)) : NULL;
    uint32_t offset = 0;

    if (table == NULL)
        return known;
    table->count = (size_t)body->desc->device_count * body->name_count;
    for (size_t i = 0; i < body->name_count; ++i) {
        name_offsets(table)[i] = offset;
        offset += (uint32_t)strlen(body->names + offset) + 1;
    }
    /* If two threads make the table at once, the first one's is kept. The release pairs with the acquire above. */
    if (atomic_compare_exchange_strong_explicit(&body->kernels, &known, table, memory_order_acq_rel,
                                                memory_order_acquire))
        return table;
    memory_free(allocator, table, program_kernels_size(body));
    return known;
}

static void kernel_destroy(struct ingot_kernel *kernel, struct ingot_context *context)
{
    if (kernel == NULL)
        return;
    if (kernel->native != NULL)
        context->ops.destroy_kernel(context->state, kernel->native);
    pthread_mutex_destroy(&kernel->lock);
    memory_free(&context->allocator, kernel, sizeof(*kernel) + strlen(kernel->name) + 1);
}

void program_destroy_kernels(struct program_body *body)
{
    struct kernel_table *table = atomic_load_explicit(&body->kernels, memory_order_acquire);
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->count; ++i)
        kernel_destroy(atomic_load_explicit(&table->made[i], memory_order_acquire), body->desc->context);
    memory_free(&body->desc->context->allocator, table, program_kernels_size(body));
}

/* Makes the kernel and stores it at `place` in the program, unless another thread has stored one meanwhile. */
__attribute__((noinline)) static ingot_status_t make_kernel(struct cache_entry *program, uint32_t device,
                                                            const char *name, _Atomic(struct ingot_kernel *) *place,
                                                            struct ingot_kernel **kernel)
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

/* Finds the position of a kernel's name. Returns false if the program has no such kernel. */
static bool find_name(const struct program_body *body, struct kernel_table *table, const char *name, size_t *position)
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

/* A function of its own, because inside find_shared it makes a hit on a kernel slower. */
static bool find_device(const struct ingot_program_desc *desc, uint32_t device, size_t *position)
{
    /* Most programs are for all devices of the context. In such a program, a device's position equals its index. */
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

/* Finds or makes the shared kernel. On success, the caller's reference to the program becomes the kernel's. `desc`
 * is the program's descriptor or an equal one. */
static ingot_status_t find_shared(struct cache_entry *program, const struct ingot_program_desc *desc, uint32_t device,
                                  const char *name, struct ingot_kernel **kernel)
{
    struct program_body *body = cache_entry_value(program);
    size_t device_position = 0;
    size_t name_position = 0;

    if (!find_device(desc, device, &device_position))
        return error_set(INGOT_INVALID_ARGUMENTS, "device %u is not one of the program's devices", (unsigned)device);
    struct kernel_table *table = get_table(body);
    if (table == NULL)
        return error_out_of_memory();
    if (!find_name(body, table, name, &name_position))
        return error_set(INGOT_NOT_FOUND, "the program has no kernel %s", name);
    _Atomic(struct ingot_kernel *) *place = &table->made[device_position * body->name_count + name_position];
    *kernel = atomic_load_explicit(place, memory_order_acquire);
    return *kernel != NULL ? INGOT_SUCCESS : make_kernel(program, device, name, place, kernel);
}

/*
 * Remembers a kernel in the descriptor, unless its name is long. Only the first kernel that is requested from a program
 * is remembered, because threads that use several kernels of one descriptor would keep overwriting each other's
 * kernels. One thread writes at a time, and sets the serial to BUSY while it does. So a thread that reads the same
 * serial before and after it reads the kernel knows that the kernel belongs to that serial's program.
 */
static void remember_kernel(struct kernel_memo *memo, const struct cache_entry *program, struct ingot_kernel *kernel)
{
    enum { MAX_NAME_LENGTH = 24 };
    const uint64_t BUSY = UINT64_MAX;
    /* relaxed: the caller holds the program, so it has already acquired the serial */
    const uint64_t serial = atomic_load_explicit(entry_serial(program), memory_order_relaxed);
    uint64_t before = atomic_load_explicit(&memo->serial, memory_order_relaxed);

    if (before == serial || before == BUSY || strlen(kernel->name) > MAX_NAME_LENGTH ||
        !atomic_compare_exchange_strong_explicit(&memo->serial, &before, BUSY, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    /* Both stores are releases, which pair with the acquires in ingot_kernel_get: a thread that sees this kernel
     * also sees BUSY or a later serial. */
    atomic_store_explicit(&memo->kernel, kernel, memory_order_release);
    atomic_store_explicit(&memo->serial, serial, memory_order_release);
}

ingot_status_t ingot_kernel_create(ingot_kernel_t *kernel, ingot_program_t program, uint32_t device_index,
                                   const char *name)
{
    if (kernel == NULL || program == NULL || name == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "kernel, program or name is NULL");
    const ingot_status_t status =
        find_shared(program_entry(program), program_body(program)->desc, device_index, name, kernel);
    if (status == INGOT_SUCCESS)
        cache_entry_retain(program_entry(program));
    return status;
}

/* Implements ingot_kernel_get if the remembered kernel cannot be used. If `hit` is not NULL, it is the program.
 * Otherwise, if `pending` is not NULL, it is a hit that must be finished (cache_hit.h). If both are NULL, the program
 * must be found or made. */
__attribute__((noinline)) static ingot_status_t get_slowly(ingot_kernel_t *kernel, struct ingot_program_desc *desc,
                                                           uint32_t device_index, const char *name,
                                                           struct cache_entry *hit, struct cache_entry *pending)
{
    ingot_program_t program = (ingot_program_t)hit;

    if (hit != NULL && desc->context->trace.wants_hits)
        program_emit(desc, INGOT_EVENT_HIT, INGOT_SUCCESS, 0, 0, "");
    ingot_status_t status = hit == NULL ? program_request(&program, desc, pending) : INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        return status;
    status = find_shared(program_entry(program), desc, device_index, name, kernel);
    if (status == INGOT_SUCCESS)
        remember_kernel(&desc->kernel_memo, program_entry(program), *kernel);
    else
        cache_entry_release(program_entry(program));
    return status;
}

/* Does the same as strcmp() == 0. For the short names of remembered kernels, calling strcmp would take longer. */
static inline bool names_are_equal(const char *a, const char *b)
{
    while (*a == *b && *a != '\0')
        ++a, ++b;
    return *a == *b;
}

ingot_status_t ingot_kernel_get(ingot_kernel_t *kernel, const_ingot_program_desc_t desc, uint32_t device_index,
                                const char *name)
{
    if (kernel == NULL || desc == NULL || name == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "kernel, desc or name is NULL");
    struct ingot_program_desc *shared = (struct ingot_program_desc *)desc; /* only its memos change, which are atomic */
    struct kernel_memo *memo = &shared->kernel_memo;
    /* The memo is read before the program is looked up, because the lookup's atomic addition delays what follows it.
     * The kernel is used only if the lookup finds the kernel's program, which keeps the kernel alive. */
    const uint64_t serial = atomic_load_explicit(&memo->serial, memory_order_acquire);
    struct ingot_kernel *known = atomic_load_explicit(&memo->kernel, memory_order_acquire);
    const bool is_whole = atomic_load_explicit(&memo->serial, memory_order_relaxed) == serial;
    struct cache_entry *pending = NULL;
    struct cache_entry *hit = cache_memo_lookup_fast(&shared->memo, &pending);

    if (hit == NULL || desc->context->trace.wants_hits || !is_whole ||
        atomic_load_explicit(entry_serial(hit), memory_order_relaxed) != serial || known->device != device_index ||
        !names_are_equal(known->name, name))
        return get_slowly(kernel, shared, device_index, name, hit, pending);
    *kernel = known;
    return INGOT_SUCCESS;
}

void ingot_kernel_release(ingot_kernel_t kernel)
{
    if (kernel != NULL)
        entry_release(kernel->program);
}

ingot_status_t ingot_kernel_lock(ingot_kernel_t kernel)
{
    if (kernel == NULL)
        return error_null_argument("kernel");
    pthread_mutex_lock(&kernel->lock);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_kernel_unlock(ingot_kernel_t kernel)
{
    if (kernel == NULL)
        return error_null_argument("kernel");
    pthread_mutex_unlock(&kernel->lock);
    return INGOT_SUCCESS;
}

void *ingot_kernel_get_backend_kernel(const_ingot_kernel_t kernel, const ingot_backend_ops_t *ops)
{
    if (kernel == NULL || ops == NULL)
        return NULL;
    const struct program_body *body = cache_entry_value(kernel->program);
    return body->desc->context->ops.build == ops->build ? kernel->native : NULL;
}

/*
 * objects.c - objects that record whether they are alive; see objects.h.
 */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define ALIVE UINT64_C(0x6f626a6563742121)
#define ENDED UINT64_C(0xdeaddeaddeaddead)

static void add(atomic_size_t *live, atomic_size_t *peak, size_t bytes)
{
    const size_t now = atomic_fetch_add_explicit(live, bytes, memory_order_relaxed) + bytes;
    size_t before = atomic_load_explicit(peak, memory_order_relaxed);
    while (now > before &&
           !atomic_compare_exchange_weak_explicit(peak, &before, now, memory_order_relaxed, memory_order_relaxed)) {
    }
}

void *object_make(struct object_counts *counts, size_t bytes, void (*finish)(struct object *object))
{
    struct object *object = calloc(1, bytes);
    check(object != NULL, "memory for an object");
    *object = (struct object){ALIVE, bytes, counts, finish};
    atomic_fetch_add_explicit(&counts->made, 1, memory_order_relaxed);
    add(&counts->live_bytes, &counts->peak_bytes, bytes);
    return object;
}

void object_check(const void *object)
{
    check(((const struct object *)object)->life == ALIVE, "an object is used after its end");
}

void object_end(void *value, void *user)
{
    struct object *object = value;
    (void)user;
    check(object->life == ALIVE, "an object is ended twice");
    if (object->finish != NULL)
        object->finish(object);
    struct object_counts *counts = object->counts;
    atomic_fetch_add_explicit(&counts->ended, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&counts->live_bytes, object->bytes, memory_order_relaxed);
    memset(object, 0xdd, object->bytes);
    object->life = ENDED;
    free(object);
}

static void *allocate(void *user, size_t size, size_t alignment)
{
    struct object_counts *counts = user;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) != 0)
        return NULL;
    add(&counts->ingot_bytes, &counts->ingot_peak_bytes, size);
    return memory;
}

static void deallocate(void *user, void *memory, size_t size)
{
    struct object_counts *counts = user;
    atomic_fetch_sub_explicit(&counts->ingot_bytes, size, memory_order_relaxed);
    free(memory);
}

ingot_allocator_t object_counting_allocator(struct object_counts *counts)
{
    return (ingot_allocator_t){allocate, deallocate, counts};
}

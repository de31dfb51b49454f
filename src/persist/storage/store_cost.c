/*
 * store_cost.c - estimates how long a driver that generates code at launch takes to provide a program's blob.
 *
 * Such a driver generates code for all kernels of the program in one call that cannot be interrupted. So the call is
 * expected to take at least KERNEL_NS per kernel. A time that an earlier process measured replaces this.
 */
#include "persist/storage/store_cost.h"

#include "persist/base/memory.h"
#include "persist/storage/common/savings.h"
#include "persist/storage/common/state.h"
#include "util/nanoseconds.h"

/* PoCL 3.1 takes 70 to 150 ms of processor time for a kernel of a few lines. */
#define KERNEL_NS (100 * NS_PER_MS)

static uint64_t count_kernels(ingot_storage_t storage, const_ingot_program_t program)
{
    size_t size = 0;
    uint64_t count = 0;
    if (ingot_program_get_kernel_names(program, &size, NULL) != INGOT_SUCCESS || size == 0)
        return 0;
    const size_t capacity = size;
    char *names = memory_allocate(&storage->allocator, capacity);
    if (names != NULL && ingot_program_get_kernel_names(program, &size, names) == INGOT_SUCCESS) {
        for (size_t i = 0; i < size; ++i)
            count += names[i] == '\0';
    }
    memory_free(&storage->allocator, names, capacity);
    return count;
}

uint64_t store_cost_of(ingot_storage_t storage, const_ingot_program_t program, size_t id_size, const uint8_t *id)
{
    ingot_storage_t store = savings_find_store(storage);
    const uint64_t known_ns = store != NULL ? store->own->get_cost_ns(store->self, id_size, id) : 0;
    return known_ns != 0 ? known_ns : count_kernels(storage, program) * KERNEL_NS;
}

void store_cost_note(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t cost_ns)
{
    ingot_storage_t store = savings_find_store(storage);
    if (store != NULL)
        store->own->set_cost_ns(store->self, id_size, id, cost_ns);
}

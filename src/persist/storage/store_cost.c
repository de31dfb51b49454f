/*
 * store_cost.c - collects what is known about the cost of a program's blob, and remembers it; see store_cost.h.
 */
#include "persist/storage/store_cost.h"

#include "persist/base/memory.h"
#include "persist/storage/common/savings.h"
#include "persist/storage/common/state.h"

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

static uint64_t read_known_ns(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    ingot_storage_t store = savings_find_store(storage);
    return store != NULL ? store->own->costs->read_ns(store->self, id_size, id) : 0;
}

struct store_cost store_cost_of(ingot_storage_t storage, const_ingot_program_t program, size_t id_size,
                                const uint8_t *id, uint64_t build_ns)
{
    return (struct store_cost){build_ns, count_kernels(storage, program), read_known_ns(storage, id_size, id)};
}

void store_cost_note(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t known_ns)
{
    ingot_storage_t store = savings_find_store(storage);
    if (store != NULL)
        store->own->costs->note_ns(store->self, id_size, id, known_ns);
}

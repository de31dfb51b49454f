/*
 * spec_constants.c - converts the specialization constants of a request to the form that Level Zero takes.
 *
 * If a driver gets a constant that a module does not have, it refuses the module without a message. So each module
 * gets only the constants that it has. Drivers read eight bytes of every value, even if the constant is smaller, so
 * each value is stored in eight bytes.
 */
#include "backends/level_zero/spec_constants.h"

#include <string.h>

static void fill_spec_constants(const ingot_build_request_t *request, struct level_zero_spec_constants *constants)
{
    for (size_t i = 0; i < constants->constant_count; ++i)
        memcpy(&constants->storage[i], request->spec_constants[i].value, request->spec_constants[i].size);
    for (size_t source = 0; source < constants->source_count; ++source) {
        ze_module_constants_t *own = &constants->of_source[source];
        uint32_t *ids = constants->ids + source * constants->constant_count;
        const void **values = constants->values + source * constants->constant_count;
        for (size_t i = 0; i < constants->constant_count; ++i) {
            const uint32_t id = request->spec_constants[i].id;
            if (!ingot_spirv_has_spec_constant(&request->sources[source], id))
                continue;
            ids[own->numConstants] = id;
            values[own->numConstants] = &constants->storage[i];
            ++own->numConstants;
        }
        own->pConstantIds = ids;
        own->pConstantValues = values;
        constants->pointers[source] = own;
    }
}

ingot_status_t level_zero_spec_constants_init(const struct level_zero_state *state,
                                              const ingot_build_request_t *request,
                                              struct level_zero_spec_constants *constants)
{
    const ingot_allocator_t *allocator = &state->allocator;
    const size_t sources = request->source_count;
    const size_t count = request->spec_constant_count;
    memset(constants, 0, sizeof(*constants));
    if (count == 0)
        return INGOT_SUCCESS;
    constants->source_count = sources;
    constants->constant_count = count;
    constants->of_source = ingot_allocate(allocator, sources * sizeof(*constants->of_source));
    constants->pointers = ingot_allocate(allocator, sources * sizeof(*constants->pointers));
    constants->ids = ingot_allocate(allocator, sources * count * sizeof(*constants->ids));
    constants->values = ingot_allocate(allocator, sources * count * sizeof(*constants->values));
    constants->storage = ingot_allocate(allocator, count * sizeof(*constants->storage));
    if (constants->of_source == NULL || constants->pointers == NULL || constants->ids == NULL ||
        constants->values == NULL || constants->storage == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu specialization constants", count);
    fill_spec_constants(request, constants);
    return INGOT_SUCCESS;
}

void level_zero_spec_constants_fini(const struct level_zero_state *state, struct level_zero_spec_constants *constants)
{
    const ingot_allocator_t *allocator = &state->allocator;
    const size_t sources = constants->source_count;
    const size_t count = constants->constant_count;
    ingot_deallocate(allocator, constants->of_source, sources * sizeof(*constants->of_source));
    ingot_deallocate(allocator, (void *)constants->pointers, sources * sizeof(*constants->pointers));
    ingot_deallocate(allocator, constants->ids, sources * count * sizeof(*constants->ids));
    ingot_deallocate(allocator, (void *)constants->values, sources * count * sizeof(*constants->values));
    ingot_deallocate(allocator, constants->storage, count * sizeof(*constants->storage));
}

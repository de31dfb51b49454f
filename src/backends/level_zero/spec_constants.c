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
    const size_t count = request->spec_constant_count;
    for (size_t i = 0; i < count; ++i)
        memcpy(&constants->storage[i], request->spec_constants[i].value, request->spec_constants[i].size);
    for (size_t source = 0; source < request->source_count; ++source) {
        ze_module_constants_t *own = &constants->of_source[source];
        uint32_t *ids = constants->ids + source * count;
        const void **values = constants->values + source * count;
        for (size_t i = 0; i < count; ++i) {
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
    const size_t sources = request->source_count;
    const size_t count = request->spec_constant_count;
    *constants = (struct level_zero_spec_constants){.storage = NULL};
    if (count == 0)
        return INGOT_SUCCESS;
    constants->size = count * sizeof(*constants->storage) +
                      sources * (sizeof(*constants->of_source) + sizeof(*constants->pointers) +
                                 count * (sizeof(*constants->values) + sizeof(*constants->ids)));
    constants->storage = ingot_allocate(&state->allocator, constants->size);
    if (constants->storage == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu specialization constants", count);
    constants->of_source = (ze_module_constants_t *)(constants->storage + count);
    constants->pointers = (const ze_module_constants_t **)(constants->of_source + sources);
    constants->values = (const void **)(constants->pointers + sources);
    constants->ids = (uint32_t *)(constants->values + sources * count);
    fill_spec_constants(request, constants);
    return INGOT_SUCCESS;
}

void level_zero_spec_constants_fini(const struct level_zero_state *state, struct level_zero_spec_constants *constants)
{
    ingot_deallocate(&state->allocator, constants->storage, constants->size);
}

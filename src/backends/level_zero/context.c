/*
 * context.c - creates an Ingot context for the application's own Level Zero driver, context and devices.
 *
 * The native objects belong to the application. Ingot neither configures nor retains them.
 */
#include "backends/level_zero/backend.h"

#include <string.h>

#define MODULE_PROGRAM_EXTENSION "ZE_experimental_module_program"
#define IP_VERSION_EXTENSION "ZE_extension_device_ip_version"

ingot_status_t level_zero_module_properties(const struct level_zero_state *state, uint32_t device_index,
                                            ze_device_module_properties_t *properties)
{
    const ze_result_t result = zeDeviceGetModuleProperties(state->devices[device_index], properties);
    return result == ZE_RESULT_SUCCESS ? INGOT_SUCCESS
                                       : level_zero_fail(INGOT_BACKEND_ERROR, "zeDeviceGetModuleProperties", result);
}

/* Finds out whether the driver has the extensions that this backend uses. */
static ingot_status_t learn_extensions(struct level_zero_state *state)
{
    uint32_t count = 0;
    ze_driver_extension_properties_t *extensions = NULL;
    ze_result_t result = zeDriverGetExtensionProperties(state->driver, &count, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeDriverGetExtensionProperties", result);
    const size_t size = count * sizeof(*extensions);
    if (count == 0)
        return INGOT_SUCCESS;
    extensions = ingot_allocate(&state->allocator, size);
    if (extensions == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %u extensions", (unsigned)count);
    result = zeDriverGetExtensionProperties(state->driver, &count, extensions);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; ++i) {
        if (strcmp(extensions[i].name, MODULE_PROGRAM_EXTENSION) == 0)
            state->links_programs = true;
        else if (strcmp(extensions[i].name, IP_VERSION_EXTENSION) == 0)
            state->reports_ip_version = true;
    }
    ingot_deallocate(&state->allocator, extensions, size);
    return result == ZE_RESULT_SUCCESS ? INGOT_SUCCESS
                                       : level_zero_fail(INGOT_BACKEND_ERROR, "zeDriverGetExtensionProperties", result);
}

static ingot_status_t read_log(const struct level_zero_state *state, ze_module_build_log_handle_t log,
                               struct level_zero_text *text)
{
    size_t size = 0;
    ze_result_t result = zeModuleBuildLogGetString(log, &size, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleBuildLogGetString", result);
    text->size = size + 1; /* with room for a NUL */
    text->chars = ingot_allocate(&state->allocator, text->size);
    if (text->chars == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of text", text->size);
    if (size > 0)
        result = zeModuleBuildLogGetString(log, &size, text->chars);
    return result == ZE_RESULT_SUCCESS ? INGOT_SUCCESS
                                       : level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleBuildLogGetString", result);
}

ingot_status_t level_zero_take_log_text(const struct level_zero_state *state, ze_module_build_log_handle_t log,
                                        struct level_zero_text *text)
{
    if (log == NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = read_log(state, log, text);
    (void)zeModuleBuildLogDestroy(log);
    return status;
}

void level_zero_text_fini(const struct level_zero_state *state, struct level_zero_text *text)
{
    ingot_deallocate(&state->allocator, text->chars, text->size);
    text->chars = NULL;
    text->size = 0;
}

void level_zero_state_destroy(void *opaque)
{
    struct level_zero_state *state = opaque;
    ingot_allocator_t allocator = {NULL, NULL, NULL};
    if (state == NULL)
        return;
    allocator = state->allocator;
    ingot_deallocate(&allocator, state->devices, state->device_count * sizeof(*state->devices));
    ingot_deallocate(&allocator, state, sizeof(*state));
}

static int accepts_level_zero_source(void *state, ingot_source_kind_t kind)
{
    (void)state; /* the devices were checked when the context was made */
    return kind == INGOT_SOURCE_SPIRV;
}

const ingot_backend_ops_t level_zero_ops = {
    .struct_size = sizeof(ingot_backend_ops_t),
    .name = "level_zero",
    .destroy = level_zero_state_destroy,
    .identify_device = level_zero_identify_device,
    .accepts = accepts_level_zero_source,
    .build = level_zero_build,
    .destroy_program = level_zero_destroy_program,
    .get_kernel_names = level_zero_get_kernel_names,
    .get_binary = level_zero_get_binary,
    .load = level_zero_load,
    .create_kernel = level_zero_create_kernel,
    .destroy_kernel = level_zero_destroy_kernel,
    .get_program_size = level_zero_get_program_size,
};

/* Adds these devices, or all of the driver's if count is 0. */
static ingot_status_t add_devices(struct level_zero_state *state, uint32_t count, const ze_device_handle_t *devices)
{
    const bool are_given = count != 0;
    ze_result_t result = are_given ? ZE_RESULT_SUCCESS : zeDeviceGet(state->driver, &count, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeDeviceGet", result);
    if (count == 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the Level Zero driver has no devices");
    state->devices = ingot_allocate(&state->allocator, count * sizeof(*state->devices));
    if (state->devices == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context of %u devices", (unsigned)count);
    state->device_count = count;
    if (are_given)
        memcpy(state->devices, devices, count * sizeof(*devices));
    else
        result = zeDeviceGet(state->driver, &count, state->devices);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeDeviceGet", result);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t j = 0; j <= i; ++j) {
            if (state->devices[i] == NULL || (j < i && state->devices[j] == state->devices[i]))
                return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "devices: device %u is %s", (unsigned)i,
                                              state->devices[i] == NULL ? "NULL" : "given twice");
        }
    }
    return INGOT_SUCCESS;
}

ingot_status_t level_zero_state_create(struct level_zero_state **out, const ingot_allocator_t *allocator,
                                       ze_driver_handle_t driver, ze_context_handle_t context, uint32_t device_count,
                                       const ze_device_handle_t *devices)
{
    struct level_zero_state *state = ingot_allocate(allocator, sizeof(*state));
    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context");
    state->allocator = *allocator;
    state->driver = driver;
    state->context = context;
    const ingot_status_t status = add_devices(state, device_count, devices);
    if (status == INGOT_SUCCESS)
        *out = state;
    else
        level_zero_state_destroy(state);
    return status;
}

ingot_status_t level_zero_state_learn(void *opaque, const void *opaque_facts)
{
    struct level_zero_state *state = opaque;
    const struct level_zero_state *facts = opaque_facts;
    if (facts != NULL) {
        state->links_programs = facts->links_programs;
        state->reports_ip_version = facts->reports_ip_version;
        return INGOT_SUCCESS;
    }
    for (uint32_t i = 0; i < state->device_count; ++i) {
        ze_device_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
        const ingot_status_t status = level_zero_module_properties(state, i, &properties);
        if (status != INGOT_SUCCESS)
            return status;
        if (properties.spirvVersionSupported == 0)
            return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "device %u does not support SPIR-V", (unsigned)i);
    }
    return learn_extensions(state);
}

ingot_status_t ingot_level_zero_context_create(ingot_context_t *context, ze_driver_handle_t driver,
                                               ze_context_handle_t ze_context, uint32_t device_count,
                                               const ze_device_handle_t *devices, const ingot_context_info_t *info)
{
    const ingot_allocator_t allocator = ingot_context_info_get_allocator(info);
    struct level_zero_state *state = NULL;
    if (context == NULL || driver == NULL || ze_context == NULL || (device_count != 0 && devices == NULL))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL      ? "context"
                                      : driver == NULL     ? "driver"
                                      : ze_context == NULL ? "ze_context"
                                                           : "devices");
    ingot_status_t status = level_zero_state_create(&state, &allocator, driver, ze_context, device_count, devices);
    if (status == INGOT_SUCCESS)
        status = level_zero_state_learn(state, NULL);
    if (status == INGOT_SUCCESS)
        status = ingot_context_create(context, &level_zero_ops, state, state->device_count, info);
    if (status != INGOT_SUCCESS)
        level_zero_state_destroy(state);
    return status;
}

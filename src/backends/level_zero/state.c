/*
 * state.c - queries the driver about devices and extensions, and reads its build logs.
 */
#include "backends/level_zero/state.h"

#include "backends/level_zero/errors.h"

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

ingot_status_t level_zero_learn_extensions(struct level_zero_state *state)
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

/*
 * identity.c - adds the fields that identify a device, its driver and the compiler.
 *
 * Devices with equal fields share binaries. So everything that selects code is a field: what the driver reports about
 * the platform and the device, the build-ids of the driver and the compiler (some upgrades keep the version), the data
 * files that they compile with, and the environment variables that change the generated code. Whatever belongs to one
 * machine or one process (UUIDs, ordinals, paths, handles) is not a field. Neither is the vendor's number
 * (CL_DEVICE_VENDOR_ID), because PoCL adds the device's ordinal to it. A sub-device answers queries as its parent does,
 * so both share binaries.
 */
#include "backends/opencl/state.h"
#include "backends/opencl/vendor/data_files.h"

#include <CL/cl_icd.h>
#include <string.h>

/* Finds a function inside the driver. The clBuildProgram in the context's table belongs to the loader. But if a driver
 * supports loaders (cl_khr_icd), its platform object begins with a pointer to the driver's own table. */
static ingot_status_t find_driver_function(const struct opencl_state *state, const void **function)
{
    struct opencl_text extensions = {NULL, 0};
    cl_int(CL_API_CALL * build)(cl_program, cl_uint, const cl_device_id *, const char *,
                                void(CL_CALLBACK *)(cl_program, void *), void *) = state->cl->clBuildProgram;
    const ingot_status_t status =
        opencl_platform_text(state->cl, &state->allocator, state->platform, CL_PLATFORM_EXTENSIONS, &extensions);
    if (status != INGOT_SUCCESS)
        return status;
    if (strstr(extensions.chars, "cl_khr_icd") != NULL) {
        const cl_icd_dispatch *dispatch = NULL;
        memcpy(&dispatch, state->platform, sizeof(dispatch));
        if (dispatch != NULL && dispatch->clBuildProgram != NULL)
            build = dispatch->clBuildProgram;
    }
    opencl_text_fini(&state->allocator, &extensions);
    memcpy(function, &build, sizeof(*function));
    return INGOT_SUCCESS;
}

static ingot_status_t add_compiler_to_identity(const struct opencl_state *state, cl_device_id device,
                                               ingot_identity_t *identity)
{
    struct opencl_text platform = {NULL, 0};
    const void *function = NULL;
    ingot_status_t status = find_driver_function(state, &function);
    if (status == INGOT_SUCCESS)
        status = opencl_platform_text(state->cl, &state->allocator, state->platform, CL_PLATFORM_NAME, &platform);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_compiler(identity, function, opencl_vendor_compilers(platform.chars));
    if (status == INGOT_SUCCESS && state->vendor == OPENCL_POCL) {
        struct opencl_text name = {NULL, 0};
        status = opencl_device_text(state, device, CL_DEVICE_NAME, &name);
        if (status == INGOT_SUCCESS)
            status = pocl_add_files(&state->allocator, name.chars, function, identity);
        opencl_text_fini(&state->allocator, &name);
    }
    if (status == INGOT_SUCCESS && state->vendor == OPENCL_INTEL_CPU)
        status = intel_cpu_add_files(&state->allocator, function, identity);
    opencl_text_fini(&state->allocator, &platform);
    return status;
}

/* Adds the fields whose values the driver reports about the platform and the device. */
static ingot_status_t add_reported_fields(const struct opencl_state *state, cl_device_id device,
                                          ingot_identity_t *identity)
{
    static const struct {
        bool is_of_platform;
        cl_uint query;
        const char *name;
    } fields[] = {
        {true, CL_PLATFORM_NAME, "platform_name"},    {true, CL_PLATFORM_VERSION, "platform_version"},
        {false, CL_DEVICE_NAME, "device_name"},       {false, CL_DEVICE_VERSION, "device_version"},
        {false, CL_DRIVER_VERSION, "driver_version"}, {false, CL_DEVICE_OPENCL_C_VERSION, "opencl_c_version"},
        {false, CL_DEVICE_IL_VERSION, "il_version"},  {false, CL_DEVICE_VENDOR, "device_vendor"},
        {false, CL_DEVICE_EXTENSIONS, "extensions"},
    };
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && status == INGOT_SUCCESS; ++i) {
        struct opencl_text text = {NULL, 0};
        if (fields[i].query == CL_DEVICE_IL_VERSION && !state->takes_spirv)
            continue;
        status = fields[i].is_of_platform
                     ? opencl_platform_text(state->cl, &state->allocator, state->platform, fields[i].query, &text)
                     : opencl_device_text(state, device, fields[i].query, &text);
        /* Programs can test each extension as a macro. The list is longer than 1 KiB, so a digest of it is added. */
        if (status == INGOT_SUCCESS && fields[i].query == CL_DEVICE_EXTENSIONS)
            status = ingot_identity_add_digest(identity, fields[i].name, strlen(text.chars), text.chars);
        else if (status == INGOT_SUCCESS)
            status = ingot_identity_add(identity, fields[i].name, strlen(text.chars), text.chars);
        opencl_text_fini(&state->allocator, &text);
    }
    return status;
}

ingot_status_t opencl_identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct opencl_state *state = opaque;
    const cl_device_id device = state->devices[device_index].id;
    ingot_status_t status = add_reported_fields(state, device, identity);
    if (status == INGOT_SUCCESS)
        status = add_compiler_to_identity(state, device, identity);
    return status == INGOT_SUCCESS ? opencl_vendor_add_settings(state->vendor, identity) : status;
}

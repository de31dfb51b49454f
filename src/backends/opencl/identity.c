/*
 * identity.c - what tells one device, driver and compiler from another.
 *
 * Two devices with equal fields run each other's binaries. So everything that selects code is here: what the driver
 * says of platform and device, the build-ids of driver and compiler (versions stay the same over some upgrades), and
 * the environment variables by which a driver's compiler is told to generate other code. What belongs to one machine
 * or one process (UUIDs, ordinals, paths, handles; PoCL counts up the vendor's number) is not. A sub-device answers
 * like its parent and shares its binaries.
 */
#include "backends/opencl/identity.h"

#include "backends/opencl/errors.h"
#include "backends/opencl/state.h"

#include <CL/cl_icd.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a driver opens at run time to compile. What it is linked with is found without being named here: PoCL brings
 * LLVM and clang so. */
static const char *const intel_compilers[] = { "libigc.so.2",          "libigc.so.1",
                                               "libigdfcl.so.2",       "libigdfcl.so.1",
                                               "libopencl-clang.so.14", "libopencl-clang.so.15",
                                               NULL };
static const char *const nvidia_compilers[] = { "libnvidia-ptxjitcompiler.so.1", "libnvidia-nvvm.so.4",
                                                "libnvJitLink.so.13", "libnvJitLink.so.12", NULL };
static const char *const amd_compilers[] = { "libamd_comgr.so.3", "libamd_comgr.so.2", NULL };
static const char *const no_compilers[] = { NULL };

static const struct {
    const char *platform; /* part of the platform's name */
    const char *const *libraries;
} compilers_by_platform[] = {
    { "Intel", intel_compilers },
    { "NVIDIA", nvidia_compilers },
    { "AMD", amd_compilers },
};

/* Variables that change the code a driver generates. */
static const char *const code_variables[] = {
    "IGC_*",                          /* Intel's graphics compiler: every option that it takes */
    "NEOReadDebugKeys",               /* Intel's driver: whether the following are heard */
    "ForceOCLVersion",
    "OverrideDefaultFP64Settings",
    "ForceAllResourcesUncached",
    "UseBindlessMode",
    "POCL_BINARY_SPECIALIZE_WG",      /* PoCL: for which local sizes a binary holds code */
    "POCL_DEVICE_ADDRESS_BITS",
    "POCL_EXTRA_BUILD_FLAGS",
    "POCL_FORCE_PARALLEL_OUTER_LOOP",
    "POCL_FULL_REPLICATION_THRESHOLD",
    "POCL_KERNELLIB_NAME",
    "POCL_LLVM_CPU_NAME",
    "POCL_MAX_WORK_GROUP_SIZE",
    "POCL_WILOOPS_MAX_UNROLL_COUNT",
    "POCL_WORK_GROUP_METHOD",
    "POCL_WORK_GROUP_SPECIALIZATION",
    NULL,
};

static ingot_status_t add_text(ingot_identity_t *identity, const char *name, const char *value)
{
    return ingot_identity_add(identity, name, strlen(value), value);
}

static ingot_status_t add_platform(const struct opencl_state *state, cl_platform_info query, const char *name,
                                   ingot_identity_t *identity)
{
    struct opencl_text text = { NULL, 0 };
    ingot_status_t status = opencl_platform_text(&state->allocator, state->platform, query, &text);
    if (status == INGOT_SUCCESS)
        status = add_text(identity, name, text.chars);
    opencl_text_fini(&state->allocator, &text);
    return status;
}

static ingot_status_t add_device(const struct opencl_state *state, cl_device_id device, cl_device_info query,
                                 const char *name, ingot_identity_t *identity)
{
    struct opencl_text text = { NULL, 0 };
    ingot_status_t status = opencl_device_text(&state->allocator, device, query, &text);
    if (status == INGOT_SUCCESS)
        status = add_text(identity, name, text.chars);
    opencl_text_fini(&state->allocator, &text);
    return status;
}

/* FNV-1a of the extensions' names: each is a macro that the program can ask for, and their text is over 1 KiB. */
static ingot_status_t add_extensions(const struct opencl_state *state, cl_device_id device, ingot_identity_t *identity)
{
    struct opencl_text text = { NULL, 0 };
    char digest[17] = "";
    uint64_t hash = UINT64_C(14695981039346656037);
    ingot_status_t status = opencl_device_text(&state->allocator, device, CL_DEVICE_EXTENSIONS, &text);
    if (status != INGOT_SUCCESS)
        return status;
    for (const char *c = text.chars; *c != '\0'; ++c)
        hash = (hash ^ (uint8_t)*c) * UINT64_C(1099511628211);
    opencl_text_fini(&state->allocator, &text);
    (void)snprintf(digest, sizeof(digest), "%016" PRIx64, hash);
    return add_text(identity, "extensions", digest);
}

/* A function inside the driver. clBuildProgram itself is the loader's; but a platform of a driver made for loaders
 * (cl_khr_icd) begins with the driver's own table. */
static ingot_status_t find_driver_function(const struct opencl_state *state, const void **function)
{
    struct opencl_text extensions = { NULL, 0 };
    cl_api_clBuildProgram build = clBuildProgram;
    const ingot_status_t status =
        opencl_platform_text(&state->allocator, state->platform, CL_PLATFORM_EXTENSIONS, &extensions);
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

static ingot_status_t add_compiler(const struct opencl_state *state, ingot_identity_t *identity)
{
    struct opencl_text platform = { NULL, 0 };
    const char *const *libraries = no_compilers;
    const void *function = NULL;
    ingot_status_t status = find_driver_function(state, &function);
    if (status != INGOT_SUCCESS)
        return status;
    status = opencl_platform_text(&state->allocator, state->platform, CL_PLATFORM_NAME, &platform);
    if (status != INGOT_SUCCESS)
        return status;
    for (size_t i = 0; i < sizeof(compilers_by_platform) / sizeof(compilers_by_platform[0]); ++i) {
        if (strstr(platform.chars, compilers_by_platform[i].platform) != NULL)
            libraries = compilers_by_platform[i].libraries;
    }
    opencl_text_fini(&state->allocator, &platform);
    return ingot_identity_add_compiler(identity, function, libraries);
}

static ingot_status_t add_il_version(const struct opencl_state *state, cl_device_id device, ingot_identity_t *identity)
{
    return state->takes_spirv ? add_device(state, device, CL_DEVICE_IL_VERSION, "il_version", identity) : INGOT_SUCCESS;
}

ingot_status_t opencl_identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct opencl_state *state = opaque;
    const cl_device_id device = state->devices[device_index].id;
    ingot_status_t status = add_platform(state, CL_PLATFORM_NAME, "platform_name", identity);
    if (status == INGOT_SUCCESS)
        status = add_platform(state, CL_PLATFORM_VERSION, "platform_version", identity);
    if (status == INGOT_SUCCESS)
        status = add_device(state, device, CL_DEVICE_NAME, "device_name", identity);
    if (status == INGOT_SUCCESS)
        status = add_device(state, device, CL_DEVICE_VERSION, "device_version", identity);
    if (status == INGOT_SUCCESS)
        status = add_device(state, device, CL_DRIVER_VERSION, "driver_version", identity);
    if (status == INGOT_SUCCESS)
        status = add_device(state, device, CL_DEVICE_OPENCL_C_VERSION, "opencl_c_version", identity);
    if (status == INGOT_SUCCESS)
        status = add_il_version(state, device, identity);
    if (status == INGOT_SUCCESS)
        status = add_device(state, device, CL_DEVICE_VENDOR, "device_vendor", identity);
    if (status == INGOT_SUCCESS)
        status = add_extensions(state, device, identity);
    if (status == INGOT_SUCCESS)
        status = add_compiler(state, identity);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_environment(identity, code_variables);
    return status;
}

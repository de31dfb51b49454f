/*
 * identity.c - what tells one device, driver and compiler from another.
 *
 * Two devices with equal fields run each other's binaries. So everything that selects code is here: what the driver
 * says of platform and device, the build-ids of driver and compiler (versions stay the same over some upgrades), the
 * data files that these compile with, and the environment variables by which they are told to generate other code.
 * What belongs to one machine or one process (UUIDs, ordinals, paths, handles; PoCL counts up the vendor's number) is
 * not. A sub-device answers like its parent and shares its binaries.
 */
#include "backends/opencl/identity.h"

#include "backends/opencl/errors.h"
#include "backends/opencl/pocl_files.h"
#include "backends/opencl/state.h"

#include <CL/cl_icd.h>
#include <stdlib.h>
#include <string.h>

/* What a driver opens at run time to compile. What it is linked with is found without being named here: PoCL brings
 * LLVM and clang so. */
static const char *const intel_compilers[] = {
    "libigc.so.2",           "libigc.so.1", "libigdfcl.so.2", "libigdfcl.so.1", "libopencl-clang.so.14",
    "libopencl-clang.so.15", NULL};
static const char *const nvidia_compilers[] = {"libnvidia-ptxjitcompiler.so.1", "libnvidia-nvvm.so.4",
                                               "libnvJitLink.so.13", "libnvJitLink.so.12", NULL};
static const char *const amd_compilers[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", NULL};
static const char *const no_compilers[] = {NULL};

static const struct {
    const char *platform; /* part of the platform's name */
    const char *const *libraries;
} compilers_by_platform[] = {
    {"Intel", intel_compilers},
    {"NVIDIA", nvidia_compilers},
    {"AMD", amd_compilers},
};

/* Variables that change the code a driver generates. */
static const char *const code_variables[] = {
    "IGC_*",  /* Intel's graphics compiler: every option that it takes */
    "POCL_*", /* PoCL: all but where it keeps what it made, how it reports, and on how many processors it runs */
    "!POCL_CACHE_DIR",
    "!POCL_DEBUG",
    "!POCL_DEVICES",
    "!POCL_ENABLE_UNINIT",
    "!POCL_KERNEL_CACHE",
    "!POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES",
    "!POCL_MEMORY_LIMIT",
    "!POCL_SIGFPE_HANDLER",
    "!POCL_STARTUP_DELAY",
    "!POCL_TRACING*",
    "!POCL_AFFINITY",
    "!POCL_MAX_PTHREAD_COUNT",
    "!POCL_PTHREAD_MIN_THREADS",
    "!POCL_CPU_MAX_CU_COUNT",
    NULL,
};

/* Intel's driver hears its own keys only with the first of these. */
static const char *const intel_switches[] = {"NEOReadDebugKeys", "NEO_NEOReadDebugKeys", "NEO_OCL_NEOReadDebugKeys"};
static const char *const code_variables_and_keys[] = {
    "IGC_*", "Aa*", "NEO_*", "!NEO_CACHE_*", "!AUBDump*", "!Print*", "!Log*", "!Dump*", "!CreateMultipleRootDevices",
    NULL,
};
static const char *const intel_settings[] = {"igdrcl.config", NULL}; /* read from the current directory */

static ingot_status_t add_text(ingot_identity_t *identity, const char *name, const char *value)
{
    return ingot_identity_add(identity, name, strlen(value), value);
}

static ingot_status_t add_platform(const struct opencl_state *state, cl_platform_info query, const char *name,
                                   ingot_identity_t *identity)
{
    struct opencl_text text = {NULL, 0};
    ingot_status_t status = opencl_platform_text(&state->allocator, state->platform, query, &text);
    if (status == INGOT_SUCCESS)
        status = add_text(identity, name, text.chars);
    opencl_text_fini(&state->allocator, &text);
    return status;
}

static ingot_status_t add_device(const struct opencl_state *state, cl_device_id device, cl_device_info query,
                                 const char *name, ingot_identity_t *identity)
{
    struct opencl_text text = {NULL, 0};
    ingot_status_t status = opencl_device_text(&state->allocator, device, query, &text);
    if (status == INGOT_SUCCESS)
        status = add_text(identity, name, text.chars);
    opencl_text_fini(&state->allocator, &text);
    return status;
}

/* Each extension is a macro that the program can ask for; their text is over 1 KiB. */
static ingot_status_t add_extensions(const struct opencl_state *state, cl_device_id device, ingot_identity_t *identity)
{
    struct opencl_text text = {NULL, 0};
    ingot_status_t status = opencl_device_text(&state->allocator, device, CL_DEVICE_EXTENSIONS, &text);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_digest(identity, "extensions", strlen(text.chars), text.chars);
    opencl_text_fini(&state->allocator, &text);
    return status;
}

/* A function inside the driver. clBuildProgram itself is the loader's; but a platform of a driver made for loaders
 * (cl_khr_icd) begins with the driver's own table. */
static ingot_status_t find_driver_function(const struct opencl_state *state, const void **function)
{
    struct opencl_text extensions = {NULL, 0};
    cl_int(CL_API_CALL * build)(cl_program, cl_uint, const cl_device_id *, const char *,
                                void(CL_CALLBACK *)(cl_program, void *), void *) = clBuildProgram;
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

static ingot_status_t add_compiler(const struct opencl_state *state, cl_device_id device, ingot_identity_t *identity)
{
    struct opencl_text platform = {NULL, 0};
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
    status = ingot_identity_add_compiler(identity, function, libraries);
    if (status == INGOT_SUCCESS && state->vendor == OPENCL_POCL)
        status = opencl_add_pocl_files(state, device, function, identity);
    return status;
}

static ingot_status_t add_settings(const struct opencl_state *state, ingot_identity_t *identity)
{
    int hears_keys = 0;
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < sizeof(intel_switches) / sizeof(intel_switches[0]); ++i)
        hears_keys = hears_keys || getenv(intel_switches[i]) != NULL;
    if (state->vendor != OPENCL_INTEL_GPU || !hears_keys)
        return ingot_identity_add_environment(identity, code_variables);
    status = ingot_identity_add_environment(identity, code_variables_and_keys);
    return status == INGOT_SUCCESS ? ingot_identity_add_files(identity, "settings", intel_settings) : status;
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
        status = add_compiler(state, device, identity);
    return status == INGOT_SUCCESS ? add_settings(state, identity) : status;
}

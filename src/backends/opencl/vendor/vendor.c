/*
 * vendor.c - describes how vendors' drivers differ: how their compilers read options, and what changes the
 * generated code.
 *
 * doc/hermetic-builds.md describes the experiments from which the text rules come, and tests/conformance repeats
 * them with the installed driver. A rule that was not tested with a driver has a safe default.
 */
#include "backends/opencl/vendor/vendor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Libraries that drivers open at run time to compile. Linked libraries, such as PoCL's LLVM and clang, are found
 * without being named here. */
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

/* Environment variables that change the code that a driver generates. */
static const char *const code_variables[] = {
    "IGC_*", /* Intel's graphics compiler: every option */
    /* PoCL: all except for its reports and the number of processors. POCL_KERNEL_CACHE counts, because programs that
     * were loaded from others' binaries would fail if it is off (native_binary.c). */
    "POCL_*",
    "!POCL_CACHE_DIR",
    "!POCL_DEBUG",
    "!POCL_DEVICES",
    "!POCL_ENABLE_UNINIT",
    "!POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES",
    "!POCL_MEMORY_LIMIT",
    "!POCL_SIGFPE_HANDLER",
    "!POCL_STARTUP_DELAY",
    "!POCL_TRACING*",
    "!POCL_AFFINITY",
    "!POCL_MAX_PTHREAD_COUNT",
    "!POCL_PTHREAD_MIN_THREADS",
    "!POCL_CPU_MAX_CU_COUNT",
    "CL_CONFIG_*", /* Intel's runtime for CPUs: all except for its reports and the number of threads */
    "!CL_CONFIG_CPU_TBB_NUM_WORKERS",
    "!CL_CONFIG_LOG_FILE",
    "!CL_CONFIG_USER_LOGGER",
    "AMD_OCL_*", /* AMD's and Mesa's drivers: from their documentation, not tested */
    "GPU_ENABLE_WAVE32_MODE",
    "GPU_ENABLE_WGP_MODE",
    "CLC_*",
    "RUSTICL_*",
    NULL,
};

/* Intel's driver reads its own variables (debug keys) only if one of these is set. */
static const char *const intel_switches[] = {"NEOReadDebugKeys", "NEO_NEOReadDebugKeys", "NEO_OCL_NEOReadDebugKeys"};
static const char *const code_variables_and_keys[] = {
    "IGC_*", "Aa*", "NEO_*", "!NEO_CACHE_*", "!AUBDump*", "!Print*", "!Log*", "!Dump*", "!CreateMultipleRootDevices",
    NULL,
};
static const char *const intel_settings[] = {"igdrcl.config", NULL}; /* read from the current directory */

static const char *const intel_directories[] = {"/usr/local/include", "include", "/usr/include", NULL};
static const char *const pocl_variables[] = {"POCL_EXTRA_BUILD_FLAGS", NULL};
static const char *const other_variables[] = {"AMD_OCL_BUILD_OPTIONS", "AMD_OCL_BUILD_OPTIONS_APPEND", NULL};

/* Intel's runtime for CPUs, its emulator of FPGAs, and the name that old versions of the runtime have. */
static const char *const intel_cpu_platforms[] = {"Intel(R) OpenCL", "Intel(R) FPGA Emulation Platform for OpenCL(TM)",
                                                  "Intel(R) CPU Runtime for OpenCL(TM) Applications"};

enum opencl_vendor opencl_vendor_of(const char *platform_name)
{
    if (strcmp(platform_name, "Portable Computing Language") == 0)
        return OPENCL_POCL;
    if (strcmp(platform_name, "Intel(R) OpenCL HD Graphics") == 0 ||
        strcmp(platform_name, "Intel(R) OpenCL Graphics") == 0)
        return OPENCL_INTEL_GPU;
    for (size_t i = 0; i < sizeof(intel_cpu_platforms) / sizeof(intel_cpu_platforms[0]); ++i) {
        if (strcmp(platform_name, intel_cpu_platforms[i]) == 0)
            return OPENCL_INTEL_CPU;
    }
    return strcmp(platform_name, "NVIDIA CUDA") == 0 ? OPENCL_NVIDIA : OPENCL_OTHER;
}

void opencl_vendor_get_text_rules(enum opencl_vendor vendor, ingot_text_rules_t *rules)
{
    /* Assemblers of Intel's GPUs and of NVIDIA's have no directive that reads a file. */
    rules->assembler_reads_files = vendor != OPENCL_INTEL_GPU && vendor != OPENCL_NVIDIA;
    if (vendor == OPENCL_POCL) {
        rules->current_directory = INGOT_CURRENT_FIRST;
        rules->option_variables = pocl_variables;
    } else if (vendor == OPENCL_INTEL_GPU) {
        rules->option_quotes = INGOT_QUOTES_DOUBLE;
        rules->current_directory = INGOT_CURRENT_LAST;
        rules->late_directories = intel_directories;
    } else if (vendor == OPENCL_OTHER) {
        rules->option_variables = other_variables;
    }
}

const char *const *opencl_vendor_compilers(const char *platform_name)
{
    const char *const *libraries = no_compilers;
    for (size_t i = 0; i < sizeof(compilers_by_platform) / sizeof(compilers_by_platform[0]); ++i) {
        if (strstr(platform_name, compilers_by_platform[i].platform) != NULL)
            libraries = compilers_by_platform[i].libraries;
    }
    return libraries;
}

ingot_status_t opencl_vendor_add_settings(enum opencl_vendor vendor, ingot_identity_t *identity)
{
    bool reads_keys = false;
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < sizeof(intel_switches) / sizeof(intel_switches[0]); ++i)
        reads_keys = reads_keys || getenv(intel_switches[i]) != NULL;
    if (vendor != OPENCL_INTEL_GPU || !reads_keys)
        return ingot_identity_add_environment(identity, code_variables);
    status = ingot_identity_add_environment(identity, code_variables_and_keys);
    return status == INGOT_SUCCESS ? ingot_identity_add_files(identity, "settings", intel_settings) : status;
}

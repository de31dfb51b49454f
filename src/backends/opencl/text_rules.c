/*
 * text_rules.c - options and search of each platform, as found by experiment; see text_rules.h.
 *
 * doc/hermetic-builds.md has the experiments, and tests/conformance makes them again with the driver that is there.
 * What was not tried with a driver is left at its careful default.
 */
#include "backends/opencl/text_rules.h"

#include <string.h>

/* Of the OpenCL specification, and of the vendors'. None of them names a file. */
static const char *const options[] = {
    "-cl-*",
    "-w",
    "-Werror",
    "-g",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-create-library",
    "-enable-link-options",
    "-spir-std=*",
    "-intel-*",
    "-ze-*",
    "-nv-*",
    NULL,
};
static const char *const options_with_value[] = {"-x", NULL};
static const char *const intel_directories[] = {"/usr/local/include", "include", "/usr/include", NULL};
static const char *const pocl_variables[] = {"POCL_EXTRA_BUILD_FLAGS", NULL};

enum opencl_vendor opencl_vendor_of(const char *platform_name)
{
    if (strcmp(platform_name, "Portable Computing Language") == 0)
        return OPENCL_POCL;
    if (strcmp(platform_name, "Intel(R) OpenCL HD Graphics") == 0 ||
        strcmp(platform_name, "Intel(R) OpenCL Graphics") == 0)
        return OPENCL_INTEL_GPU;
    return strcmp(platform_name, "NVIDIA CUDA") == 0 ? OPENCL_NVIDIA : OPENCL_OTHER;
}

void opencl_get_text_rules(void *opaque, ingot_text_rules_t *rules)
{
    const struct opencl_state *state = opaque;
    rules->options = options;
    rules->options_with_value = options_with_value;
    if (state->vendor == OPENCL_POCL) {
        rules->current_directory = INGOT_CURRENT_FIRST;
        rules->option_variables = pocl_variables;
    } else if (state->vendor == OPENCL_INTEL_GPU) {
        rules->option_quotes = INGOT_QUOTES_DOUBLE;
        rules->current_directory = INGOT_CURRENT_LAST;
        rules->late_directories = intel_directories;
    }
}

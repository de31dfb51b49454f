/*
 * text_rules.c - describes the options that any OpenCL compiler may accept. For the differences between vendors,
 * see vendor/vendor.c.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/state.h"

/* Options of the OpenCL specification and of vendors. None of them names a file. */
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

void opencl_get_text_rules(void *opaque, ingot_text_rules_t *rules)
{
    const struct opencl_state *state = opaque;
    rules->options = options;
    rules->options_with_value = options_with_value;
    opencl_vendor_get_text_rules(state->vendor, rules);
}

/*
 * text_rules.h - how the compiler of a platform reads options and finds included files.
 */
#ifndef INGOT_BACKENDS_OPENCL_TEXT_RULES_H
#define INGOT_BACKENDS_OPENCL_TEXT_RULES_H

#include "backends/opencl/state.h"

enum opencl_vendor opencl_vendor_of(const char *platform_name);
void opencl_get_text_rules(void *state, ingot_text_rules_t *rules);

#endif

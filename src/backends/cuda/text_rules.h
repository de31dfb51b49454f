/*
 * text_rules.h - how NVRTC reads options and finds included files.
 */
#ifndef INGOT_BACKENDS_CUDA_TEXT_RULES_H
#define INGOT_BACKENDS_CUDA_TEXT_RULES_H

#include <ingot/backend.h>

void cuda_get_text_rules(void *state, ingot_text_rules_t *rules);

#endif

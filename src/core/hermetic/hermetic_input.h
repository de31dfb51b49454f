/*
 * hermetic_input.h - what hermetic_resolve is given.
 */
#ifndef INGOT_CORE_HERMETIC_HERMETIC_INPUT_H
#define INGOT_CORE_HERMETIC_HERMETIC_INPUT_H

#include <ingot/backend.h>

enum { HERMETIC_OPTIONS = 4 };

/* Texts with what applies to them, as the application gave it. */
struct hermetic_input {
    const ingot_text_rules_t *rules;
    const ingot_source_view_t *sources; /* others than texts are passed over */
    size_t source_count;
    const ingot_source_view_t *headers; /* embedded ones */
    size_t header_count;
    /* The program's, a source's own, the environment's, and those of the compiler's own variables; "" for none. */
    const char *options[HERMETIC_OPTIONS];
};

#endif

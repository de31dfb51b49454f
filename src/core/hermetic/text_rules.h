/*
 * text_rules.h - how the compiler of a context reads options and finds files, and the options that it takes from the
 * environment by itself.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_RULES_H
#define INGOT_CORE_HERMETIC_TEXT_RULES_H

#include <ingot/backend.h>

#include "core/base/alloc.h"

struct text_rules {
    ingot_text_rules_t of_backend; /* options is never NULL */
    char *variable_options;        /* the values of option_variables with blanks between them; "" where none is set */
};

/* Asks the backend and reads the variables. INGOT_OUT_OF_MEMORY */
ingot_status_t text_rules_init(struct text_rules *rules, const ingot_allocator_t *allocator,
                               const ingot_backend_ops_t *ops, void *state);
void text_rules_fini(struct text_rules *rules, const ingot_allocator_t *allocator);

#endif

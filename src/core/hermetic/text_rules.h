/*
 * text_rules.h - gets a compiler's rules: how it interprets options and finds files, and which options it reads from
 * the environment.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_RULES_H
#define INGOT_CORE_HERMETIC_TEXT_RULES_H

#include <ingot/backend.h>
#include <stdbool.h>

#include "core/base/digest.h"
#include "util/memory.h"

struct text_rules {
    ingot_text_rules_t of_backend; /* the backend's rules; `options` is never NULL */
    char *variable_options;        /* the values of the environment variables in option_variables, separated by
                                    * blanks; "" if none is set */
    uint8_t digest[DIGEST_SIZE];   /* digest of all fields above */
};

/* Gets the backend's rules and reads the environment variables. Fails only with INGOT_OUT_OF_MEMORY. */
ingot_status_t text_rules_init(struct text_rules *rules, const ingot_allocator_t *allocator,
                               const ingot_backend_ops_t *ops, void *state);
/* True if the environment variables still have the values that text_rules_init read. */
bool text_rules_are_current(const struct text_rules *rules, const ingot_allocator_t *allocator);
void text_rules_fini(struct text_rules *rules, const ingot_allocator_t *allocator);

#endif

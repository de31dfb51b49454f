/*
 * hermetic_input.h - defines the input of hermetic_resolve.
 */
#ifndef INGOT_CORE_HERMETIC_HERMETIC_INPUT_H
#define INGOT_CORE_HERMETIC_HERMETIC_INPUT_H

#include <ingot/backend.h>
#include <stdbool.h>

enum { HERMETIC_OPTIONS = 3 };

/* The name of a macro in the texts. If the compiler reaches the keyword asm, its log has this name. */
#define HERMETIC_NO_ASM "INGOT_NO_ASM"

/* Sources that are compiled together, with their headers and options, as the application passed them. */
struct hermetic_input {
    const ingot_text_rules_t *rules;
    const ingot_source_view_t *sources; /* sources that are not text are skipped */
    size_t source_count;
    const ingot_source_view_t *headers; /* embedded headers */
    size_t header_count;
    /* The options of the program, of Ingot's environment variables, and of the compiler's environment variables; ""
     * for none. */
    const char *options[HERMETIC_OPTIONS];
    /* true if the sources are texts that an earlier resolution made. They are only checked: no file is looked for, and
     * whatever might make the compiler read one is a reason. The headers are then ignored. */
    bool is_final;
};

#endif

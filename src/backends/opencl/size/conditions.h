/*
 * conditions.h - evaluates the conditions of #if, as far as the text itself decides them.
 *
 * A condition is unknown if it needs a name that the compiler may define by itself, or arithmetic.
 */
#ifndef INGOT_BACKENDS_OPENCL_SIZE_CONDITIONS_H
#define INGOT_BACKENDS_OPENCL_SIZE_CONDITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "backends/opencl/size/code_tokens.h"

enum truth { IS_FALSE, IS_TRUE, IS_UNKNOWN };

struct defined_name {
    uint64_t hash; /* 0: no name */
    enum truth is_defined;
    bool has_value;
    int64_t value;
};

/* The names that have been defined so far, in the caller's memory. */
struct defined_names {
    struct defined_name *names; /* zeroed by the caller; some elements must stay free */
    size_t capacity;            /* a power of two */
};

/* Carry out a #define or #undef. The text starts at its name. `is_certain` is false if the directive is in a group that
 * a compiler might leave out. */
void names_define(struct defined_names *names, const char *start, const char *end, bool is_certain);
/* Carries out -D. The text is NAME or NAME=VALUE. */
void names_define_option(struct defined_names *names, const char *start, const char *end);
void names_undefine(struct defined_names *names, const char *start, const char *end, bool is_certain);

/* Evaluate the expression of #if, or the name of #ifdef. */
enum truth condition_of(const struct defined_names *names, const char *start, const char *end);
enum truth condition_is_defined(const struct defined_names *names, const char *start, const char *end);

#endif

/*
 * macro_table.h - every definition that any scanned text or the options give to a macro.
 *
 * Conditions are not evaluated, so a macro may have several definitions; an include is computed only by macros that
 * have one, and the compiler checks that it is in force (macro_expand.h).
 */
#ifndef INGOT_CORE_HERMETIC_MACRO_TABLE_H
#define INGOT_CORE_HERMETIC_MACRO_TABLE_H

#include "core/hermetic/text_scanner.h"

struct macro_body; /* macro_body.h */

struct macro_definition {
    const char *text; /* from the end of the name on: "(x) #x", " 1" */
    size_t size;
    struct macro_body *body; /* text taken apart, when first used */
};

struct macro {
    struct macro *next; /* in its bucket */
    const char *name;
    size_t name_size;
    struct macro_definition *definition; /* the first; its others only count */
    bool is_ambiguous;                   /* another definition says something else */
    bool is_undefined;                   /* some text or option has an #undef */
    bool of_options;                     /* some definition is an option */
};

struct macro_table {
    struct arena *arena;
    struct macro **buckets;
    size_t bucket_count;
    size_t macro_count;
    bool are_hidden; /* some text has #pragma push_macro: no definition is certain */
};

/* arena keeps what the table holds; the texts must stay. */
void macro_table_init(struct macro_table *table, struct arena *arena);
/* text: what follows the name in a #define. */
void macro_table_define(struct macro_table *table, size_t name_size, const char *name, size_t size, const char *text);
void macro_table_undefine(struct macro_table *table, size_t name_size, const char *name);
/* An option's NAME, NAME=BODY or NAME(PARAMETERS)=BODY. */
void macro_table_define_option(struct macro_table *table, size_t size, const char *value);
/* One whose definition is not known: includes are not computed by it. */
void macro_table_doubt(struct macro_table *table, size_t name_size, const char *name);
/* The length of the name that a text begins with. */
size_t macro_name_length(size_t size, const char *text);
struct macro *macro_table_find(const struct macro_table *table, size_t name_size, const char *name);

#endif

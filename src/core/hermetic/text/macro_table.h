/*
 * macro_table.h - all definitions of macros in the scanned texts and the options.
 *
 * Conditions are not evaluated, so a macro may have several definitions. Only macros with a single definition are used
 * for computed includes, and the compiler checks that it is active (macro_expand.h).
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_MACRO_TABLE_H
#define INGOT_CORE_HERMETIC_TEXT_MACRO_TABLE_H

#include "core/hermetic/text/text_scanner.h"

struct macro_body; /* macro_body.h */

/* A name and its hash, which are computed once for all programs that read a text. */
struct macro_name {
    const char *text;
    size_t size;
    uint64_t hash;
};
struct macro_name macro_name_of(size_t size, const char *text);

struct macro_definition {
    const char *text; /* everything after the name: "(x) #x", " 1" */
    size_t size;
    struct macro_body *body; /* text, parsed on first use */
};

struct macro {
    struct macro *next; /* in its bucket */
    struct macro_name name;
    struct macro_definition *definition; /* the first definition; others only set is_ambiguous */
    bool is_ambiguous;                   /* another definition differs */
    bool is_undefined;                   /* some text or option has an #undef */
    bool of_options;                     /* true if a definition comes from an option */
};

struct macro_table {
    struct arena *arena;
    struct macro **buckets;
    size_t bucket_count;
    size_t macro_count;
    bool are_hidden; /* some text has #pragma push_macro, so no definition is certain */
};

/* Initializes a table. Its memory is in the arena, and the texts must outlive it. */
void macro_table_init(struct macro_table *table, struct arena *arena);
/* Adds a definition; text is the part of the #define after the name. */
void macro_table_define(struct macro_table *table, struct macro_name name, size_t size, const char *text);
void macro_table_undefine(struct macro_table *table, struct macro_name name);
/* Adds an option's NAME, NAME=BODY or NAME(PARAMETERS)=BODY. */
void macro_table_define_option(struct macro_table *table, size_t size, const char *value);
/* Marks a macro whose definition is unknown. It is not used for computed includes. */
void macro_table_doubt(struct macro_table *table, size_t name_size, const char *name);
/* Returns the length of the name at the beginning of a text. */
size_t macro_name_length(size_t size, const char *text);
struct macro *macro_table_find(const struct macro_table *table, size_t name_size, const char *name);
/* True if compilers may predefine the name, so that the texts do not determine its meaning. macro may be NULL.
 */
bool macro_may_be_predefined(const struct macro *macro, size_t size, const char *name);

#endif

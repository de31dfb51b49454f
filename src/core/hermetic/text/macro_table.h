/*
 * macro_table.h - keeps all definitions of macros in the scanned texts and the options.
 *
 * Conditions are not evaluated, so a macro may have several definitions. For computed includes, only macros with a
 * single definition are used, and the compiler checks that it is active (macro_expand.h).
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_MACRO_TABLE_H
#define INGOT_CORE_HERMETIC_TEXT_MACRO_TABLE_H

#include "core/hermetic/text/text_scanner.h"

struct macro_body; /* defined in macro_expand.c */

/* A name and its hash. The hash is computed once for all programs that read a text. */
struct macro_name {
    const char *text;
    size_t size;
    uint64_t hash;
};
struct macro_name macro_name_of(size_t size, const char *text);

struct macro_definition {
    const char *text; /* everything after the name, such as "(x) #x" or " 1" */
    size_t size;
    struct macro_body *body; /* the parsed text; NULL until it is needed */
};

struct macro {
    struct macro *next; /* next in its bucket */
    struct macro_name name;
    struct macro_definition *definition; /* the first definition; a different one only sets is_ambiguous */
    bool is_ambiguous;                   /* true if another definition differs, or if the definition is unknown */
    bool is_undefined;                   /* true if some text or option undefines the name */
    bool of_options;                     /* true if an option defines the name */
};

struct macro_table {
    struct arena *arena;
    struct macro **buckets;
    size_t bucket_count;
    size_t macro_count;
    bool are_hidden; /* true if some text has #pragma push_macro, so that no definition is certain */
};

/* Initializes a table. Its memory is in the arena. The texts must outlive it. */
void macro_table_init(struct macro_table *table, struct arena *arena);
/* Adds a definition. `text` is the part of the #define after the name. Returns the macro, or NULL if out of memory. */
struct macro *macro_table_define(struct macro_table *table, struct macro_name name, size_t size, const char *text);
void macro_table_undefine(struct macro_table *table, struct macro_name name);
/* Adds a definition from an option's value: NAME, NAME=BODY or NAME(PARAMETERS)=BODY. */
void macro_table_define_option(struct macro_table *table, size_t size, const char *value);
/* Marks a macro whose definition is not known with certainty, so that it is not used for computed includes. */
void macro_table_doubt(struct macro_table *table, size_t name_size, const char *name);
struct macro *macro_table_find(const struct macro_table *table, size_t name_size, const char *name);
/* True if compilers may predefine the name, so that the texts do not determine its meaning. `macro` is NULL if the
 * texts and options do not contain the name. */
bool macro_may_be_predefined(const struct macro *macro, size_t size, const char *name);

#endif

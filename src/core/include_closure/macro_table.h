/*
 * macro_table.h - every definition that any scanned text or the options give to a macro.
 *
 * Conditions are not evaluated, so a macro may have several definitions, and one that a text defines or undefines may
 * also be undefined where it is used. An expansion is therefore a set: one result for every choice among these.
 */
#ifndef INGOT_CORE_MACRO_TABLE_H
#define INGOT_CORE_MACRO_TABLE_H

#include "core/include_closure/text_scanner.h"

struct macro_body; /* macro_expand.c */

struct macro_definition {
    struct macro_definition *next;
    const char *text; /* from the end of the name on: "(x) #x", " 1" */
    size_t size;
    struct macro_body *body; /* text taken apart, when first used */
};

struct macro {
    struct macro *next; /* in its bucket */
    const char *name;
    size_t name_size;
    struct macro_definition *first; /* in the order found */
    struct macro_definition *last;
    size_t definition_count;
    bool of_options; /* some definition is an option */
    bool may_be_undefined;
};

struct macro_table {
    struct arena *arena;
    struct macro **buckets;
    size_t bucket_count;
    size_t macro_count;
};

/* arena keeps what the table holds; the texts must stay. */
void macro_table_init(struct macro_table *table, struct arena *arena);
/* text: what follows the name in a #define. */
void macro_table_define(struct macro_table *table, size_t name_size, const char *name, size_t size, const char *text);
void macro_table_undefine(struct macro_table *table, size_t name_size, const char *name);
/* An option's NAME, NAME=BODY or NAME(ARGUMENTS)=BODY. */
void macro_table_define_option(struct macro_table *table, const char *value);
struct macro *macro_table_find(const struct macro_table *table, size_t name_size, const char *name);

/* ---- expansion ---- */

enum header_kind { HEADER_NONE, HEADER_QUOTED, HEADER_ANGLE };

struct header_name {
    enum header_kind kind; /* HEADER_NONE: the tokens are no file name */
    const char *text;      /* with a NUL */
    size_t size;
};

enum { MACRO_CHOICES = 32 };

struct macro_choice {
    const struct macro *macro;
    size_t taken; /* of option_count */
    size_t option_count;
};

/* All that the operand of an include can expand to. */
struct macro_worlds {
    const struct macro_table *table;
    struct arena *scratch; /* reset for each result */
    const char *operand;
    size_t operand_size;
    struct macro_choice choices[MACRO_CHOICES];
    size_t choice_count;
    size_t tried;
    bool done;
    const char *doubt;      /* why the results cannot be trusted: a static sentence, or NULL */
    const char *doubt_name; /* the macro's name in it, doubt_size bytes */
    size_t doubt_size;
};

void macro_worlds_init(struct macro_worlds *worlds, const struct macro_table *table, struct arena *scratch, size_t size,
                       const char *operand);
/* False after the last, on a doubt, and when an arena failed. */
bool macro_worlds_next(struct macro_worlds *worlds, struct header_name *name);

#endif

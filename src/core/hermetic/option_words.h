/*
 * option_words.h - reads a string of options word by word, as far as all compilers agree on its meaning.
 *
 * Compilers differ in what separates words, and in what quotes and backslashes do. A word that they may read
 * differently is OPTION_UNKNOWN, and so is an option that might read a file. Then the program is built natively
 * (hermetic.h), without an id.
 */
#ifndef INGOT_CORE_HERMETIC_OPTION_WORDS_H
#define INGOT_CORE_HERMETIC_OPTION_WORDS_H

#include <ingot/backend.h>

#include "core/base/bytes.h"
#include "util/memory.h"

enum option_kind {
    OPTION_PLAIN,     /* known not to read files */
    OPTION_DIRECTORY, /* -I; `value` is the directory */
    OPTION_DEFINE,    /* -D; `value` is NAME, NAME=BODY or NAME(PARAMETERS)=BODY */
    OPTION_UNDEFINE,  /* -U; `value` is the name */
    OPTION_UNKNOWN    /* `problem` says why */
};

struct option {
    enum option_kind kind;
    const char *start; /* points into the string of options; the value is part of it */
    size_t size;
    const char *value; /* points into the string of options, or into the arena */
    size_t value_size;
    bool has_quotes;     /* true if there are quotes or backslashes, so that compilers may read the value differently */
    const char *problem; /* a clause, such as "which might read a file" */
};

struct option_reader {
    const ingot_text_rules_t *rules;
    struct arena *arena;
    const char *at; /* begins at the string of options */
};

/* Reads the next option. Returns false at the end, or if the arena failed. */
bool option_next(struct option_reader *reader, struct option *option);

/* What the options of a program contain, whatever its sources are. */
struct option_survey {
    bool has_directory;
    bool defines_special_name; /* true if a definition may contain a name such as __TIME__, or ## */
    bool keeps_names;          /* true if an option asks for debug information, so that the result contains names of
                                * files */
    struct option unknown;     /* the first option of kind OPTION_UNKNOWN, if any */
};
void option_survey_add(struct option_survey *survey, const ingot_text_rules_t *rules, struct arena *arena,
                       const char *options);
/* True if the option asks for debug information. */
bool option_keeps_names(const struct option *option);
/* True if the option is a -D whose value contains "assert". If a compiler predefines assert, the message of assert
 * contains __FILE__. */
bool option_has_assert(const struct option *option);

/* Appends the options without -I, or unchanged if there is none. */
void options_keep(struct bytes_writer *kept, const ingot_text_rules_t *rules, struct arena *arena, const char *options);

#endif

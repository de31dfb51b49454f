/*
 * option_words.h - an option string word by word, as far as every reading of it agrees.
 *
 * Compilers differ in what separates words and in what quotes and backslashes do. A word on which they could differ is
 * OPTION_UNKNOWN, and so is an option that is not known to read no file. The caller then has the program built as the
 * application asked, without an id.
 */
#ifndef INGOT_CORE_HERMETIC_OPTION_WORDS_H
#define INGOT_CORE_HERMETIC_OPTION_WORDS_H

#include <ingot/backend.h>

#include "core/base/arena.h"
#include "core/base/bytes.h"

enum option_kind {
    OPTION_PLAIN,     /* known to read no file */
    OPTION_DIRECTORY, /* -I; value is the directory */
    OPTION_DEFINE,    /* -D; value is NAME, NAME=BODY or NAME(PARAMETERS)=BODY */
    OPTION_UNDEFINE,  /* -U; value is the name */
    OPTION_UNKNOWN    /* problem says why */
};

struct option {
    enum option_kind kind;
    const char *start; /* in the option string, value included */
    size_t size;
    const char *value; /* in the option string or the arena */
    size_t value_size;
    bool has_quotes;     /* the value as compilers see it is not certain */
    const char *problem; /* a clause: "that is not known to read no file" */
};

struct option_reader {
    const ingot_text_rules_t *rules;
    struct arena *arena;
    const char *at;
};

void option_reader_init(struct option_reader *reader, const ingot_text_rules_t *rules, struct arena *arena,
                        const char *options);
/* False at the end, and when the arena failed. */
bool option_next(struct option_reader *reader, struct option *option);

/* What the options of a program say before its sources are looked at. */
struct option_survey {
    bool has_directory;
    bool defines_special_name; /* a definition may name __TIME__, __FILE__ and the like */
    bool keeps_names;          /* debug information: names of files are part of what is made */
    struct option unknown;     /* the first, or kind OPTION_PLAIN */
};
void option_survey_add(struct option_survey *survey, const ingot_text_rules_t *rules, struct arena *arena,
                       const char *options);

/* Appends the options without -I, which the compiler gets and the id has. Nothing where one is OPTION_UNKNOWN. */
void options_keep(struct bytes_writer *kept, const ingot_text_rules_t *rules, struct arena *arena, const char *options);

#endif

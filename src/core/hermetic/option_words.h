/*
 * option_words.h - reads an option string word by word, where all compilers agree on the meaning.
 *
 * Compilers differ in what separates words and in what quotes and backslashes do. A word that they could read
 * differently is OPTION_UNKNOWN, and so is an option that might read a file. Then the program is built natively,
 * without an id.
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
    const char *start; /* points into the option string; includes the value */
    size_t size;
    const char *value; /* points into the option string or the arena */
    size_t value_size;
    bool has_quotes;     /* compilers may read the value differently */
    const char *problem; /* a clause: "which might read a file" */
};

struct option_reader {
    const ingot_text_rules_t *rules;
    struct arena *arena;
    const char *at;
};

void option_reader_init(struct option_reader *reader, const ingot_text_rules_t *rules, struct arena *arena,
                        const char *options);
/* Reads the next option. Returns false at the end, or if the arena failed. */
bool option_next(struct option_reader *reader, struct option *option);

/* What a program's options say, without its sources. */
struct option_survey {
    bool has_directory;
    bool defines_special_name; /* a definition may name __TIME__, __FILE__ and the like */
    bool keeps_names;          /* an option asks for debug information, so the result contains names of files */
    struct option unknown;     /* the first unknown option; its kind is OPTION_PLAIN if there is none */
};
void option_survey_add(struct option_survey *survey, const ingot_text_rules_t *rules, struct arena *arena,
                       const char *options);
/* Does the same, and appends the options without -I, for the compiler and the id. Appends nothing if there is no -I, so
 * that the options stay unchanged. */
void option_survey_and_keep(struct option_survey *survey, struct bytes_writer *kept, const ingot_text_rules_t *rules,
                            struct arena *arena, const char *options);
/* Adds what other options say. */
void option_survey_join(struct option_survey *survey, const struct option_survey *other);
/* True if the option asks for debug information. */
bool option_keeps_names(const struct option *option);
/* True if the option may define a macro as assert. If the compiler predefines assert, its message contains __FILE__. */
bool option_has_assert(const struct option *option);

/* Appends the options without -I. */
void options_keep(struct bytes_writer *kept, const ingot_text_rules_t *rules, struct arena *arena, const char *options);

#endif

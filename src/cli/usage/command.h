/*
 * command.h - the table of commands and options. The parser, the help, the completion and the manual page all come from
 * it.
 *
 * A command describes its options and operands, and where their values go: members of its own struct, which the parser
 * fills with zeros first. So a command does not parse anything, and every option's text is written once. A command
 * keeps in its struct whatever it needs until its end, and frees nothing of that: the process ends with it.
 */
#ifndef INGOT_CLI_USAGE_COMMAND_H
#define INGOT_CLI_USAGE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a value is, and the type of the member that gets it. */
enum value_kind {
    VALUE_NONE,   /* a flag: bool */
    VALUE_TEXT,   /* this and the next four: const char *, NULL if not given. They differ in their completion. */
    VALUE_FILE,   /* of any kind */
    VALUE_FOLDER, /* also a store */
    VALUE_ENTRY,  /* the name of an entry, or a file */
    VALUE_COMMAND,
    VALUE_WORD,  /* one of `words`: unsigned, 1 for the first word, 0 if not given */
    VALUE_COUNT, /* this and the next two: uint64_t, 0 if not given, or QUANTITY_UNLIMITED or QUANTITY_NONE */
    VALUE_SIZE,  /* in bytes */
    VALUE_TIME   /* in nanoseconds */
};

#define QUANTITY_UNLIMITED UINT64_MAX  /* the word "unlimited" */
#define QUANTITY_NONE (UINT64_MAX - 1) /* the word "none" */

enum option_flags {
    OPTION_REQUIRED = 1,       /* an operand that must be given */
    OPTION_REPEATED = 2,       /* may be given several times: the member is a struct text_list */
    OPTION_VALUE_OPTIONAL = 4, /* the value is "" if it is not given; otherwise it follows "=" or the letter */
    OPTION_HIDDEN = 8,         /* another spelling, which the help does not show */
    OPTION_REST = 16           /* an operand that takes all remaining arguments, options too: char ** */
};

struct text_list {
    char **items;
    size_t count;
};

/* An option, or an operand if `name` is NULL. The list of a command's options ends where `help` is NULL. */
struct command_option {
    const char *name;
    char letter; /* 0: none */
    enum value_kind kind;
    const char *value; /* the name of the value in the help */
    size_t at;         /* the member for the value in the command's struct */
    const char *words; /* the valid words, separated by blanks; for a quantity: "unlimited", "none", both or NULL */
    unsigned flags;
    const char *help;
};

struct command {
    const char *name;
    const char *group; /* the heading in the list of commands */
    const char *summary;
    const char *about; /* paragraphs, separated by "\n\n" */
    const struct command_option *options;
    size_t size; /* of the command's struct, whose first member is a struct common_options unless is_bare */
    int (*run)(void *values); /* returns an exit_code */
    int usage_exit;           /* the exit status of wrong usage; 0: EXIT_USAGE */
    bool is_bare;             /* the command does not have the common options */
};

/* All commands, in the order in which the help lists them. NULL ends the list. */
extern const struct command *const commands_all[];

/* Finds a command by its name, which may be NULL. Returns NULL if there is none. */
const struct command *command_find(const char *name);
/* Reports that there is no command of this name, and names the nearest one. Returns EXIT_USAGE. */
int command_tell_unknown(const char *name);

/* Returns the option at an index: the command's own ones, and then those that all commands have; NULL at the end. */
const struct command_option *command_get_option(const struct command *command, size_t index);
/* Returns the operand at a position, for which a repeated one counts as many; NULL if there is none. */
const struct command_option *command_get_operand(const struct command *command, size_t position);
/* Returns the option with this letter, or NULL. */
const struct command_option *command_find_letter(const struct command *command, char letter);
/* True for the options that all commands have. */
bool command_is_common(const struct command_option *option);

/* The word that a mistyped word most likely means. */
struct nearest {
    const char *text; /* the mistyped word */
    size_t size;
    const char *found; /* NULL: no word is near */
    size_t distance;   /* of `found` */
};

void nearest_init(struct nearest *nearest, size_t size, const char *text);
/* Compares the text with one more word, which must stay valid. */
void nearest_add(struct nearest *nearest, const char *word);

#endif

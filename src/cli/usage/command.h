/*
 * command.h - the table of commands and options, of which argp(3) makes the parser and the help.
 *
 * A command describes its options and operands, and where their values go: members of its own struct, which is filled
 * with zeros first. So a command does not parse anything, and every option's text is written once. A command keeps in
 * its struct whatever it needs until its end, and frees nothing of that: the process ends with it.
 */
#ifndef INGOT_CLI_USAGE_COMMAND_H
#define INGOT_CLI_USAGE_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a value is, and the type of the member that gets it. */
enum value_kind {
    VALUE_NONE,  /* a flag: bool */
    VALUE_TEXT,  /* const char *, NULL if not given */
    VALUE_WORD,  /* one of `words`: unsigned, 1 for the first word, 0 if not given */
    VALUE_COUNT, /* this and the next two: uint64_t, 0 if not given, or QUANTITY_UNLIMITED or QUANTITY_NONE */
    VALUE_SIZE,  /* in bytes */
    VALUE_TIME   /* in nanoseconds */
};

#define QUANTITY_UNLIMITED UINT64_MAX  /* the word "unlimited" */
#define QUANTITY_NONE (UINT64_MAX - 1) /* the word "none" */

/* Besides OPTION_HIDDEN, and OPTION_ARG_OPTIONAL, which gives "" for a value that is missing, both of argp(3). */
enum option_flags {
    OPTION_REQUIRED = 0x100, /* an operand that must be given */
    OPTION_REPEATED = 0x200, /* may be given several times: the member is a struct text_list */
    OPTION_REST = 0x400      /* an operand that takes all remaining arguments, options too: char ** */
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
    int flags;
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

/* Finds a command by its name. If there is none, reports that on standard error and returns NULL. */
const struct command *command_find(const char *name);
/* Reads the arguments after the command's name. `values` points to command->size zeros. Wrong usage is reported on
 * standard error and ends the process, and so does --help. */
void command_parse(const struct command *command, int count, char **arguments, void *values);
/* Prints the list of all commands. */
void command_print_list(void);
/* Copies the word at an index in a list that is separated by blanks. Returns false if there are fewer words. */
bool command_get_word(const char *words, size_t index, size_t capacity, char *word);
/* Reports wrong usage, such as options that exclude each other. Returns EXIT_USAGE. */
int command_refuse(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

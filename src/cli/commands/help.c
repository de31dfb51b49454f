/*
 * help.c - `ingot help`: describes a command.
 */
#include "cli/commands/all.h"

struct helping {
    const char *name; /* NULL: none */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_TEXT, "COMMAND", offsetof(struct helping, name), .help = "The command"},
    {.help = NULL},
};

static int run_help(void *values)
{
    const struct helping *helping = values;
    char help[] = "--help";
    char *words[] = {NULL, help};
    if (helping->name == NULL) {
        command_print_list();
        return EXIT_DONE;
    }
    const struct command *command = command_find(helping->name);
    if (command != NULL)
        command_parse(command, 1, words + 1, NULL); /* prints the help, and ends the process */
    return EXIT_USAGE;
}

const struct command command_help = {
    .name = "help",
    .group = "Other",
    .summary = "describe a command",
    .about = "Describes a command, or lists all commands.",
    .options = options,
    .size = sizeof(struct helping),
    .run = run_help,
    .is_bare = true,
};

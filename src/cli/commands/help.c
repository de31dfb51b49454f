/*
 * help.c - `ingot help`: describes a command.
 */
#include "cli/usage/help.h"

#include "cli/base/exit_code.h"
#include "cli/commands/all.h"

struct helping {
    const char *name; /* NULL: none */
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_COMMAND, "COMMAND", offsetof(struct helping, name), .help = "The command"},
    {.help = NULL},
};

static int run_help(void *values)
{
    const struct helping *helping = values;
    const struct command *command = command_find(helping->name);
    if (helping->name == NULL)
        help_print_all();
    else if (command != NULL)
        help_print(command);
    else
        return command_tell_unknown(helping->name);
    return EXIT_DONE;
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

/*
 * help.c - `ingot help`: describes a command.
 */
#include "cli/usage/help.h"

#include "cli/base/exit_code.h"
#include "cli/commands/all.h"

struct helping {
    struct text_list words;
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_COMMAND, "COMMAND", offsetof(struct helping, words), .flags = OPTION_REPEATED,
     .help = "The command, of one word or two"},
    {.help = NULL},
};

static int run_help(void *values)
{
    const struct helping *helping = values;
    const struct text_list *words = &helping->words;
    int word_count = 0;
    const struct command *command = command_find((int)words->count, words->items, &word_count);
    if (words->count == 0)
        help_print_all();
    else if (command != NULL)
        help_print(command);
    else if (words->count == 1 && command_is_group(words->items[0]))
        help_print_group(words->items[0]);
    else
        return command_tell_unknown((int)words->count, words->items);
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

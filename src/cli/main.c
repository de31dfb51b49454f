/*
 * main.c - `ingot`: inspects and maintains a directory store.
 */
#include <ingot/ingot.h>
#include <ingot/private/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/commands/all.h"
#include "cli/usage/command.h"
#include "cli/usage/help.h"
#include "cli/usage/parse.h"

#define ADDRESS(name) &command_##name,

const struct command *const commands_all[] = {COMMANDS(ADDRESS) NULL};

/* The command's struct. What hangs on it is not freed, because the process ends with the command. */
static void *volatile kept_values;

static int run_command(const struct command *command, int count, char **arguments)
{
    void *values = memory_get(command->size);
    kept_values = values;
    memset(values, 0, command->size);
    json_init();
    switch (parse_arguments(command, count, arguments, values)) {
    case PARSE_DONE: return command->run(values);
    case PARSE_HELP: help_print(command); return EXIT_DONE;
    case PARSE_WRONG: break;
    }
    return command->usage_exit != 0 ? command->usage_exit : EXIT_USAGE;
}

static bool is_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0 || strcmp(text, "-?") == 0;
}

/* Runs what the arguments after the tool's name ask for. Returns an exit_code. */
static int dispatch_arguments(int count, char **arguments)
{
    const char *first = count > 0 ? arguments[0] : "";
    const struct command *command = command_find(first);
    if (command != NULL)
        return run_command(command, count - 1, arguments + 1);
    if (is_help(first))
        help_print_all();
    else if (strcmp(first, "--version") == 0)
        (void)printf("ingot %s\n", ingot_version());
    else if (strcmp(first, "--complete") == 0 && count > 1) /* for ingot.bash; words[0] must be the tool */
        complete_print(count - 1, arguments + 1, atoi(arguments[1]));
    else if (strcmp(first, "--manual") == 0) /* for the build */
        help_print_manual();
    else
        return command_tell_unknown(count > 0 ? first : NULL);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    ingot_environment_be_silent();
    const int code = dispatch_arguments(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fputs("ingot: writing the output failed\n", stderr);
        return EXIT_FAILED;
    }
    return code;
}

/*
 * main.c - `ingot`: inspects and maintains a directory store.
 */
#include <ingot/ingot.h>
#include <ingot/private/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/commands/all.h"
#include "cli/usage/command.h"

#define ADDRESS(name) &command_##name,

const struct command *const commands_all[] = {COMMANDS(ADDRESS) NULL};

/* The command's struct. What hangs on it is not freed, because the process ends with the command. */
static void *volatile kept_values;

/* Runs what the arguments after the tool's name ask for. Returns an exit_code. */
static int dispatch_arguments(int count, char **arguments)
{
    if (count == 0) {
        (void)fputs("ingot: name a command; \"ingot help\" lists them\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(arguments[0], "--help") == 0 || strcmp(arguments[0], "-h") == 0) {
        command_print_list();
        return EXIT_DONE;
    }
    if (strcmp(arguments[0], "--version") == 0) {
        (void)printf("ingot %s\n", ingot_version());
        return EXIT_DONE;
    }
    const struct command *command = command_find(arguments[0]);
    if (command == NULL)
        return EXIT_USAGE;
    void *values = memory_get(command->size);
    kept_values = values;
    memset(values, 0, command->size);
    json_init();
    command_parse(command, count - 1, arguments + 1, values);
    return command->run(values);
}

/* For atexit, because argp(3) ends the process when it has printed the help. */
static void finish_output(void)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return;
    (void)fputs("ingot: writing the output failed\n", stderr);
    _exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
    ingot_environment_be_silent();
    (void)atexit(finish_output);
    return dispatch_arguments(argc - 1, argv + 1);
}

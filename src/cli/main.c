/*
 * main.c - `ingot`: inspects and maintains a directory store. `ingot help` describes a command.
 */
#include <ingot/ingot.h>
#include <ingot/private/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"

#define ADDRESS(name) &command_##name,

const struct command *const commands_all[] = {COMMANDS(ADDRESS) NULL};

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

/* The command's struct. What hangs on it is not freed, because the process ends with the command. */
static void *volatile kept_values;

/* For atexit, because argp(3) ends the process when it has printed the help. */
static void finish_output(void)
{
    if (!output_finish())
        _exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    ingot_environment_be_silent();
    (void)atexit(finish_output);
    if (name == NULL) {
        (void)fputs("ingot: name a command; \"ingot help\" lists them\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        command_print_list();
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("ingot %s\n", ingot_version());
        return EXIT_DONE;
    }
    const struct command *command = command_find(name);
    if (command == NULL)
        return EXIT_USAGE;
    kept_values = memory_get(command->size);
    json_init();
    command_parse(command, argc - 2, argv + 2, kept_values);
    if (command != &command_run)        /* its child inherits it */
        (void)signal(SIGCHLD, SIG_DFL); /* if it were ignored, the exit statuses of workers would be lost */
    return command->run(kept_values);
}

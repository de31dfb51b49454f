/*
 * help.h - prints the help from the table of commands.
 */
#ifndef INGOT_CLI_USAGE_HELP_H
#define INGOT_CLI_USAGE_HELP_H

#include "cli/usage/command.h"

/* Prints the list of all commands. */
void help_print_all(void);
/* Prints the commands of a group, such as "bundle". */
void help_print_group(const char *group);
/* Prints a command's synopsis, description, operands and options. */
void help_print(const struct command *command);

enum { HELP_TEXT_SIZE = 1024 };

/* Returns an option's help with the valid values. */
const char *help_text(const struct command_option *option, char text[HELP_TEXT_SIZE]);
/* Calls `put` for each part of a synopsis: "ingot evict", "[OPTION...]". */
void help_synopsis(const struct command *command, void (*put)(const char *part));

#endif

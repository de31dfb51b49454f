/*
 * help.h - prints the help and the manual page from the table of commands, and completes command lines.
 */
#ifndef INGOT_CLI_USAGE_HELP_H
#define INGOT_CLI_USAGE_HELP_H

#include "cli/usage/command.h"

/* Prints the list of all commands. */
void help_print_all(void);
/* Prints a command's synopsis, description, operands and options. */
void help_print(const struct command *command);

/* Prints the sections COMMANDS and OPTIONS of the manual page in the language of man(7). */
void help_print_manual(void);

/* Completes a command line for a shell: prints what the word at an index may become, one candidate per line. A line
 * that begins with a tab tells the shell what it must find by itself: "file", "folder", or "command N", a command line
 * that begins at word N. words[0] is the tool. */
void complete_print(int count, char **words, int at);

#endif

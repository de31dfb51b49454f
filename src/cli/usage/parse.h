/*
 * parse.h - reads a command's arguments into its struct.
 */
#ifndef INGOT_CLI_USAGE_PARSE_H
#define INGOT_CLI_USAGE_PARSE_H

#include "cli/usage/command.h"

enum parse_outcome { PARSE_DONE, PARSE_HELP, PARSE_WRONG };

/* Reads the arguments after the command's name. `values` points to command->size zeros. Reports wrong usage on standard
 * error. */
enum parse_outcome parse_arguments(const struct command *command, int count, char **arguments, void *values);

/* Reports wrong usage, such as options that exclude each other. Returns EXIT_USAGE. */
int parse_refuse(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/*
 * run.h - executes a command, and finds the libraries of the layers, starting from the directory of the tool.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_H
#define INGOT_CLI_COMMANDS_RUN_RUN_H

#include <stdbool.h>

/* The Level Zero loader's list of drivers, separated by commas. */
#define RUN_LAYER_DRIVERS "ZE_ENABLE_ALT_DRIVERS"

/* Returns the absolute path of the layer, which the caller frees. On failure, prints a message and returns NULL. */
char *run_layer_find(void);
/* Returns the absolute path of the Level Zero layer, which the caller frees, or NULL if it is not installed. */
char *run_layer_find_level_zero(void);
/* Returns a path that does not depend on the working directory; the caller frees it. */
char *run_layer_absolute(const char *path);

/* Replaces this process with the command. If that fails, prints why and returns 127 (command not found) or 126. */
int run_replace_process(char **command);
/* Executes the command in a child, forwards signals to the child, waits for its end, and prints on standard error what
 * the layer counted in all its processes. Ends as the child ended: returns its exit status, or raises the signal that
 * killed it. If nothing can be counted, says why and replaces this process, or returns EXIT_RUN_FAILED if `is_strict`.
 */
int run_and_count(char **command, bool is_strict);

#endif

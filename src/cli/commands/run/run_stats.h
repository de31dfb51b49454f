/*
 * run_stats.h - executes a command, in this process or in a child whose work with the OpenCL layer is counted.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_STATS_H
#define INGOT_CLI_COMMANDS_RUN_RUN_STATS_H

#include <stdbool.h>

/* Replaces this process with the command. If that fails, prints why and returns 127 (command not found) or 126. */
int run_replace_process(char **command);
/* Executes the command in a child, forwards signals to the child, waits for its end, and prints on standard error what
 * the layer counted in all its processes. Ends as the child ended: returns its exit status, or raises the signal that
 * killed it. If nothing can be counted, says why and replaces this process, or returns EXIT_RUN_FAILED if `is_strict`.
 */
int run_and_count(char **command, bool is_strict);

#endif

/*
 * run_stats.h - adds up what the OpenCL layer did in all processes of a command.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_STATS_H
#define INGOT_CLI_COMMANDS_RUN_RUN_STATS_H

#include <stdbool.h>

/* Creates a file, and sets the environment variable that makes the layer append its counts to this file in each process
 * of the command. Returns the file's path, which the caller frees. On failure, prints a message and returns NULL. */
char *run_stats_begin(void);
/* Adds up the counts in the file, prints the sums on standard error, and removes the file. is_storing_later: true if
 * programs that the command did not store are stored after its end. */
void run_stats_end(const char *path, bool is_storing_later);

#endif

/*
 * run_stats.h - adds up what the OpenCL layer did in all processes of a command.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_STATS_H
#define INGOT_CLI_COMMANDS_RUN_RUN_STATS_H

/* Creates a file, and sets the environment variable that makes the layer append its counts to this file in each process
 * of the command. Returns the file's path, which the caller frees. On failure, prints a message and returns NULL. */
char *run_stats_begin(void);
/* Adds up the counts in the file, prints the sums on standard error, and removes the file. */
void run_stats_end(const char *path);

#endif

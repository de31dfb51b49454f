/*
 * run_stats.h - adds up what the OpenCL layer did in all processes of a command.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_STATS_H
#define INGOT_CLI_COMMANDS_RUN_RUN_STATS_H

/* Creates the file that the layers of all processes append to, and names it in their environment. Returns its path,
 * which the caller frees, or NULL after a message. */
char *run_stats_begin(void);
/* Adds up the counts in the file, prints the sums on standard error, and removes the file. */
void run_stats_end(const char *path);

#endif

/*
 * run_later.h - stores the programs that a command has compiled but not stored, after the command has ended.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_LATER_H
#define INGOT_CLI_COMMANDS_RUN_RUN_LATER_H

/* Creates a directory, and sets the environment variable that makes the OpenCL layer record the programs that wait to
 * be stored in this directory. Returns its path, which the caller frees. Returns NULL if nothing could be stored,
 * because the store is missing, read-only or full. */
char *run_later_begin(void);
/* Starts a process that waits for the end of this process, also if this process executes another program, and then
 * stores the programs and removes the directory. */
void run_later_watch(const char *directory);
/* Stores the programs now, and removes the directory. Prints a message for each program that cannot be stored. */
void run_later_store(const char *directory);

#endif

/*
 * run_child.h - executes a command, in this process or in a child.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_CHILD_H
#define INGOT_CLI_COMMANDS_RUN_RUN_CHILD_H

#include <stdbool.h>

/* Replaces this process with the command. If that fails, prints why and returns 127 (command not found) or 126. */
int run_replace_process(char **command);
/* Executes the command in a child, forwards signals to the child, and waits for its end. Sets *status as waitpid does.
 * If no child can be started, prints a message and returns false. */
bool run_child_wait(char **command, int *status);
/* Ends as the child ended: returns the child's exit status, or raises the signal that killed the child. */
int run_child_end(int status);

#endif

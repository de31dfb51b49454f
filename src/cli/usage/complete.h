/*
 * complete.h - completes a command line for a shell.
 */
#ifndef INGOT_CLI_USAGE_COMPLETE_H
#define INGOT_CLI_USAGE_COMPLETE_H

/* Prints what the word at an index may become, one candidate per line. A line that begins with a tab tells the shell
 * what it must find by itself: "file", "folder", or "command N", a command line that begins at word N. words[0] is the
 * tool. */
void complete_print(int count, char **words, int at);

#endif

/*
 * manual.h - prints the parts of the manual page that come from the table of commands.
 */
#ifndef INGOT_CLI_USAGE_MANUAL_H
#define INGOT_CLI_USAGE_MANUAL_H

/* Prints the sections COMMANDS and OPTIONS in the language of man(7). */
void manual_print(void);

#endif

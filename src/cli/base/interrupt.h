/*
 * interrupt.h - makes long work end after the current entry when the user presses Ctrl-C.
 *
 * The only reason is that the findings so far are then still reported. Killing the process at any point would not harm
 * a store. A second Ctrl-C kills the process.
 */
#ifndef INGOT_CLI_BASE_INTERRUPT_H
#define INGOT_CLI_BASE_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void);
bool interrupt_seen(void);

#endif

/*
 * interrupt.h - on Ctrl-C, lets long work end after the current entry, so that the findings so far are still reported.
 *
 * Killing the process at any point does not harm a store; this is only for the report. A second Ctrl-C kills the
 * process.
 */
#ifndef INGOT_CLI_BASE_INTERRUPT_H
#define INGOT_CLI_BASE_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void);
bool interrupt_seen(void);

#endif

/*
 * interrupt.h - Ctrl-C ends long work between two entries, so that what was found is still told.
 *
 * A store takes no harm from a process that is killed anywhere; this is for the report. The second Ctrl-C kills.
 */
#ifndef INGOT_CLI_INTERRUPT_H
#define INGOT_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void);
bool interrupt_seen(void);

#endif

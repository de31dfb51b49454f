/*
 * process_number.h - tells a forked child from its parent.
 *
 * The process ID does not, because a child may have the ID of its parent, in another PID namespace.
 */
#ifndef INGOT_UTIL_PROCESS_NUMBER_H
#define INGOT_UTIL_PROCESS_NUMBER_H

/* Returns a number that is different in each forked child, of the processes in which it was called before the fork. */
unsigned long process_number(void);

#endif

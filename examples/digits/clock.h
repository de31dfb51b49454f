/*
 * clock.h - a clock in milliseconds, for measuring the stages.
 */
#ifndef DIGITS_CLOCK_H
#define DIGITS_CLOCK_H

/* Returns the milliseconds since an arbitrary start. Never goes back. */
double clock_ms(void);

#endif

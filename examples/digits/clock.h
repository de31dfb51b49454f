/*
 * clock.h - measures the stages' times in milliseconds.
 */
#ifndef DIGITS_CLOCK_H
#define DIGITS_CLOCK_H

/* Returns the time from an arbitrary start; it never goes back. */
double clock_ms(void);

#endif

/*
 * clock.h - milliseconds for the stages' times.
 */
#ifndef DIGITS_CLOCK_H
#define DIGITS_CLOCK_H

/* From an arbitrary start; never goes back. */
double clock_ms(void);

#endif

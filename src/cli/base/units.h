/*
 * units.h - formats sizes, ages and times.
 */
#ifndef INGOT_CLI_BASE_UNITS_H
#define INGOT_CLI_BASE_UNITS_H

#include <stdint.h>

enum { UNITS_TEXT_SIZE = 48 };

/* Formats a size: "17 B", "4.0 KiB". */
const char *units_bytes(uint64_t bytes, char text[UNITS_TEXT_SIZE]);
/* Formats how long ago a time was: "3h", "12d", or "0s" for a time in the future. */
const char *units_age(uint64_t since_ns, uint64_t now_ns, char text[UNITS_TEXT_SIZE]);
/* Formats a duration: "230.0 us", "2.4 s", "3m 05s", "1h 03m". */
const char *units_duration(uint64_t duration_ns, char text[UNITS_TEXT_SIZE]);
/* Formats a time: "2026-03-01T12:30:05Z". */
const char *units_time(uint64_t since_epoch_ns, char text[UNITS_TEXT_SIZE]);
/* Reads what units_time formats, in whole seconds; 0 if it is something else. */
uint64_t units_read_time(const char *text);
uint64_t units_now_ns(void);

#endif

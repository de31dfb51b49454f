/*
 * os.h - wraps the operating system's clocks and environment variables. For files, see os_file.h.
 */
#ifndef INGOT_CORE_BASE_OS_H
#define INGOT_CORE_BASE_OS_H

#include <stdbool.h>

#include <ingot/ingot.h>

uint64_t os_now_ns(void);        /* monotonic clock */
uint64_t os_wall_clock_ms(void); /* milliseconds since 1970 */

/* Returns the value of an environment variable. Returns NULL if it is not set, or if the process has more rights
 * than its user (setuid). Called only while a context is created. */
const char *os_environment(const char *name);
/* Returns the value of an environment variable that a driver or compiler reads. Works in a setuid process, too, because
 * drivers also read their variables there. */
const char *os_environment_of_others(const char *name);
/* Calls visit with the name of each environment variable. In a setuid process, where os_environment returns NULL, it
 * does nothing. */
void os_visit_environment(void (*visit)(const char *name, size_t size, void *user), void *user);

#endif

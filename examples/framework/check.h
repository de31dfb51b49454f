/*
 * check.h - ends the example with an error message if a step fails. A framework would return the status instead.
 */
#ifndef FRAMEWORK_CHECK_H
#define FRAMEWORK_CHECK_H

#include <stdbool.h>

#include <ingot/ingot.h>

void check(bool holds, const char *what);
void check_ingot(ingot_status_t status, const char *what);

#endif

/*
 * check.h - ends the example with a sentence if a step fails; a framework would pass the status on.
 */
#ifndef FRAMEWORK_CHECK_H
#define FRAMEWORK_CHECK_H

#include <stdbool.h>

#include <ingot/ingot.h>

void check(bool holds, const char *what);
void check_ingot(ingot_status_t status, const char *what);

#endif

/*
 * check.c - ends the example with an error message if a step fails; see check.h.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "framework: failed: %s\n", what);
    _Exit(1); /* not exit(), because other threads still run */
}

void check_ingot(ingot_status_t status, const char *what)
{
    if (status == INGOT_SUCCESS)
        return;
    fprintf(stderr, "framework: %s: %s: %s\n", what, ingot_status_name(status), ingot_last_error_detail());
    _Exit(1);
}

/*
 * report.h - what happened and how long it took: a table for people, JSON for ./scripts/demo and the tests.
 */
#ifndef DIGITS_REPORT_H
#define DIGITS_REPORT_H

#include <stddef.h>

#include "device.h"
#include "programs.h"

/* Times in milliseconds, in the order in which the stages happen. */
struct report {
    double platform_ms;     /* Finding the device, making the OpenCL and the Ingot context, opening the store. */
    double programs_ms;     /* All programs, one after the other. */
    double first_result_ms; /* One image through the network; 0 where nothing was run. */
    double ready_ms;        /* programs_ms + first_result_ms: drivers may compile as late as at the first launch. */
    double all_images_ms;
    double flush_ms; /* Storing what was not stored at once. */
    size_t compilations;
    size_t loads;
    size_t images; /* 0: nothing was run. */
    size_t right;
    size_t differences; /* From the reference. */
};

void report_print(const struct report *report, const struct device *device, const struct programs *programs);

/* Returns 0, or -1 after saying why. */
int report_write_json(const struct report *report, const struct device *device, const struct programs *programs,
                      const char *path);

#endif

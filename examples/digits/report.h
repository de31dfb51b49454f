/*
 * report.h - results and times: a table for people, JSON for ./scripts/demo and the tests.
 */
#ifndef DIGITS_REPORT_H
#define DIGITS_REPORT_H

#include <stddef.h>

#include "device.h"
#include "programs.h"

/* Times in milliseconds, in the order in which the stages happen. */
struct report {
    double platform_ms;     /* Finding the device, creating the OpenCL and the Ingot context, opening the store. */
    double programs_ms;     /* All programs, in sequence. */
    double first_result_ms; /* One image through the network; 0 if nothing ran. */
    double ready_ms;        /* programs_ms + first_result_ms: drivers may defer compiling to the first launch. */
    double all_images_ms;
    double flush_ms; /* Storing programs that were not stored at once. */
    size_t compilations;
    size_t loads;
    size_t images; /* 0: nothing ran. */
    size_t right;
    size_t differences; /* Differences from the reference. */
};

void report_print(const struct report *report, const struct device *device, const struct programs *programs);

/* Returns 0; on failure prints why, returns -1. */
int report_write_json(const struct report *report, const struct device *device, const struct programs *programs,
                      const char *path);

#endif

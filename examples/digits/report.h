/*
 * report.h - reports results and times, as a table for people and as JSON for ./scripts/demo and the tests.
 */
#ifndef DIGITS_REPORT_H
#define DIGITS_REPORT_H

#include <stddef.h>

#include "device.h"
#include "programs.h"

/* Times in milliseconds, in the order in which the stages happen. */
struct report {
    double platform_ms;     /* To find the device, create the OpenCL and the Ingot context, and open the store. */
    double programs_ms;     /* To make all programs, one after another. */
    double first_result_ms; /* To classify the first image; 0 if nothing ran. */
    double ready_ms;        /* programs_ms + first_result_ms, because drivers may compile at the first launch. */
    double all_images_ms;
    double flush_ms; /* To store the programs that were not stored immediately. */
    size_t compilations;
    size_t loads;
    size_t images; /* 0: nothing ran. */
    size_t right;
    size_t differences; /* Differences from the reference. */
};

void report_print(const struct report *report, const struct device *device, const struct programs *programs);

/* Returns 0. On failure, prints the reason and returns -1. */
int report_write_json(const struct report *report, const struct device *device, const struct programs *programs,
                      const char *path);

#endif

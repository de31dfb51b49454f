/*
 * counts.h - prints what a command has done, as counts.
 */
#ifndef INGOT_CLI_BASE_COUNTS_H
#define INGOT_CLI_BASE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct count {
    uint64_t value;
    const char *name; /* in JSON */
    const char *text; /* after the number, for people: "entries sealed" */
};

/* Prints a sentence, or a JSON object. */
void counts_print(bool is_json, size_t count, const struct count *counts);

#endif

/*
 * output.h - prints what a command reports: one JSON object, which is printed as it is with --json, and otherwise as
 * text by a pattern. So a command describes its results once.
 */
#ifndef INGOT_CLI_BASE_OUTPUT_H
#define INGOT_CLI_BASE_OUTPUT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

/* clang-format off */
/*
 * In a pattern,
 *   {NAME}          is the value of a member; {} is the item of a list itself, and {@} its name;
 *   {NAME:FORMAT}   is the value as FORMAT says: size, duration (of nanoseconds) or duration_ms, time_ms (since 1970),
 *                   age (of a time), short (the first 12 characters), or for a text, the column in which its second
 *                   and further lines begin, otherwise 2;
 *   {NAME|TEXT}     is TEXT if the member is null or missing;
 *   [NAME?PATTERN]  is printed only if the member is neither null, false, 0, empty nor missing;
 *   [NAME!PATTERN]  is printed only if it is one of those;
 *   <NAME*PATTERN>  is printed for each item of a list, or each member of an object.
 */
/* clang-format on */

/* Prints an object by a pattern. */
void output_put(FILE *stream, const char *pattern, const cJSON *json);
/* Returns what a pattern makes of an object, without line ends of its texts. The caller frees it. */
char *output_text(const char *pattern, const cJSON *json);
/* Prints a command's object, or each object of its list, as JSON or by a pattern, and deletes it. */
void output_print(cJSON *json, bool is_json, const char *pattern);
/* Writes what is left of standard output. Returns false, and prints a message, if any of the output was lost. */
bool output_finish(void);

#endif

/*
 * json.h - extends cJSON: allocations that never fail, 64-bit integers, times, and printing.
 */
#ifndef INGOT_CLI_BASE_JSON_H
#define INGOT_CLI_BASE_JSON_H

#include <cjson/cJSON.h>
#include <ingot/ingot.h>
#include <stdint.h>

/* Must be called before any cJSON function. Afterwards, functions that create or add values never return NULL. */
void json_init(void);
/* The functions that add a member do not copy its name, which must be a constant. */
void json_add_u64(cJSON *object, const char *name, uint64_t value); /* exact, not rounded to a double */
void json_add_time(cJSON *object, const char *name, uint64_t since_epoch_ns);
/* Returns a non-negative number, or 0 for any other value. */
uint64_t json_u64_of(const cJSON *value);
/* Returns the value of a member that is a non-negative number, or 0 if there is none. */
uint64_t json_get_u64(const cJSON *object, const char *name);
/* Returns the value of a member that is a string, or NULL. */
const char *json_text(const cJSON *object, const char *name);
/* Adds a string. If `text` is NULL, adds null. */
void json_add_text(cJSON *object, const char *name, const char *text);
/* Returns what a function of the library that describes bytes as JSON says about them, or NULL on failure. */
cJSON *json_describe(ingot_status_t (*describe)(size_t size, const uint8_t *bytes, size_t *text_size, char *text),
                     size_t size, const uint8_t *bytes);
/* Prints the value and deletes it. A list is printed with an item per line, and its text is never entirely in memory.
 */
void json_print(cJSON *json);

#endif

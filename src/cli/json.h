/*
 * json.h - what cJSON lacks: memory that does not fail, integers of 64 bits, times, and printing.
 */
#ifndef INGOT_CLI_JSON_H
#define INGOT_CLI_JSON_H

#include <cjson/cJSON.h>
#include <stdint.h>

/* Before anything else of cJSON. After it no function that creates or adds returns NULL. */
void json_init(void);
void json_add_u64(cJSON *object, const char *name, uint64_t value); /* exact, not rounded to a double */
void json_add_time(cJSON *object, const char *name, uint64_t since_epoch_ns);
/* NULL becomes null. */
void json_add_text(cJSON *object, const char *name, const char *text);
/* Prints and deletes. */
void json_print(cJSON *json);
/* As json_print, one line and without its end: an item of a list that is not held as a whole. */
void json_print_item(cJSON *json);

#endif

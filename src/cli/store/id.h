/*
 * id.h - reads the fields of an id, for lists and filters.
 */
#ifndef INGOT_CLI_STORE_ID_H
#define INGOT_CLI_STORE_ID_H

#include <cjson/cJSON.h>
#include <ingot/ingot.h>
#include <stdbool.h>

/* Returns an object with one member per field, or NULL if the library cannot read the id. */
cJSON *id_read(size_t size, const uint8_t *id);

/* Returns the kind of an artifact, "program" for a program, and NULL for an id that cannot be read. */
const char *id_kind(const cJSON *fields);
/* True if `wanted` is NULL or the kind of the id: "result", which is also called "program", "artifact", "request",
 * "probes", or the kind of an artifact. */
bool id_has_kind(const cJSON *fields, const char *wanted);
bool id_is_of_kind(size_t size, const uint8_t *id, const char *wanted);

/* Adds the kind, the backend, the driver, the sources ("opencl_c 1f2e3d4c5b6a") and the devices to an object. Several
 * are joined by ", ", and equal names are listed once. An artifact has a kind, and the device that its key names. A bad
 * id (NULL) has nothing. */
void id_add_to_json(cJSON *object, const cJSON *fields);

/* True if a source's digest begins with these hexadecimal digits. */
bool id_has_digest(const cJSON *fields, const char *digits);
/* True if `part` occurs in a source's kind, in the name of a header or file, or in a field of an artifact's key, or if
 * a source's digest begins with it. */
bool id_has_source(const cJSON *fields, const char *part);

/* Returns the fields that differ as an array, or NULL if one of the two ids cannot be read. */
cJSON *id_compare(size_t wanted_size, const uint8_t *wanted, size_t found_size, const uint8_t *found);

#endif

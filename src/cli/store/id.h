/*
 * id.h - reads the fields of an id, for lists and filters.
 */
#ifndef INGOT_CLI_STORE_ID_H
#define INGOT_CLI_STORE_ID_H

#include <cjson/cJSON.h>
#include <ingot/ingot.h>
#include <stdbool.h>

/* All members are NULL if the library cannot read the id. */
struct id_view {
    cJSON *fields; /* an object with one member per field */
    char *kind;    /* of an artifact; NULL for a program */
    char *backend; /* NULL for an artifact, like what follows */
    char *devices; /* joined by ", "; equal names are listed once */
    char *drivers;
    char *sources; /* "opencl_c 1f2e3d4c5b6a", joined by ", " */
};

void id_read(struct id_view *view, size_t size, const uint8_t *id);
void id_fini(struct id_view *view);

/* Returns the kind of an artifact, "program" for a program, and NULL for an id that cannot be read. */
const char *id_kind(const struct id_view *view);
/* True if `wanted` is NULL or the kind of the id. */
bool id_is_of_kind(size_t size, const uint8_t *id, const char *wanted);
/* Returns what made the result: the backend of a program, or the kind of an artifact. */
const char *id_maker(const struct id_view *view);

/* Adds the kind, the backend, the driver, the sources and the devices to an object. */
void id_add_to_json(cJSON *object, const struct id_view *view);

/* True if `part` occurs in a source's kind, in the name of a header or file, or in a field of an artifact's key, or if
 * a source's digest begins with it. */
int id_has_source(const struct id_view *view, const char *part);

/* Returns the fields that differ as an array, or NULL if one of the two ids cannot be read. */
cJSON *id_compare(size_t wanted_size, const uint8_t *wanted, size_t found_size, const uint8_t *found);

#endif

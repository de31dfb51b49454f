/*
 * id.h - reads the fields of an id, for lists and filters.
 */
#ifndef INGOT_CLI_STORE_ID_H
#define INGOT_CLI_STORE_ID_H

#include <cjson/cJSON.h>
#include <ingot/ingot.h>

/* All members are NULL if the library cannot read the id. */
struct id_view {
    cJSON *fields; /* an object with one member per field */
    char *backend;
    char *devices; /* joined by ", "; equal names are listed once */
    char *drivers;
    char *sources; /* "opencl_c 1f2e3d4c5b6a", joined by ", " */
};

void id_read(struct id_view *view, size_t size, const uint8_t *id);
void id_fini(struct id_view *view);

/* Adds the backend, the driver, the sources and the devices to an object. */
void id_add_to_json(cJSON *object, const struct id_view *view);

/* True if `part` occurs in a source's kind or in the name of a header or file, or if a source's digest begins with
 * it. */
int id_has_source(const struct id_view *view, const char *part);

/* Returns the fields that differ as an array, or NULL if one of the two ids cannot be read. */
cJSON *id_compare(size_t wanted_size, const uint8_t *wanted, size_t found_size, const uint8_t *found);

#endif

/*
 * builders.h - starts a builder (`ingot build --watch`) for the programs that a cache's application has wished for.
 */
#ifndef INGOT_FRONT_BUILDERS_H
#define INGOT_FRONT_BUILDERS_H

#include <ingot/storage.h>
#include <stdbool.h>
#include <stdint.h>

struct builders;

/* count: of the processes that may compile. remote: the URL of the server if the application named it, or NULL.
 * ignores_environment: of its INGOT_* variables. Returns NULL if there shall be none, or if memory runs out. */
struct builders *builders_create(uint64_t count, const char *remote, bool ignores_environment);
void builders_destroy(struct builders *builders); /* may be NULL */
/* Starts a builder for the storage, unless there is one, it is too early for the next one, or `builders` is NULL. On
 * failure, sets the error detail, and later calls do nothing. */
ingot_status_t builders_call(struct builders *builders, ingot_storage_t storage);

#endif

/*
 * target.h - makes the URLs of objects on an HTTP server.
 */
#ifndef INGOT_REMOTE_HTTP_TARGET_H
#define INGOT_REMOTE_HTTP_TARGET_H

#include <ingot/ingot.h>
#include <stdbool.h>

#include "remote/settings/url.h"

#define TARGET_BASE_CAPACITY (2 * URL_CAPACITY)
#define TARGET_PATH_CAPACITY 160u
#define TARGET_LIST_CAPACITY 1900u

struct target {
    bool is_flat;
    char name_space[72];
    char base[TARGET_BASE_CAPACITY]; /* without a slash at its end */
    char root[TARGET_BASE_CAPACITY]; /* for S3, the base without the path; "": the server cannot list objects */
    char prefix[URL_CAPACITY];       /* the path, without a slash at its end */
};

/* @retval INGOT_INVALID_ARGUMENTS  The endpoint is not an http:// or https:// URL, or contains a user. */
ingot_status_t target_init(struct target *target, const struct url *url, const char *name_space);
/* Writes the path of the object with this key, which follows the base in its URL. */
void target_path(const struct target *target, const char *key, char path[TARGET_PATH_CAPACITY]);
/* Writes what follows the root in the URL that lists the objects after the one with this key; "": from the first one.
 * Returns false if it has no room. */
bool target_list_path(const struct target *target, const char *key, size_t capacity, char *path);

#endif

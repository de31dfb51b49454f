/*
 * target.c - makes the URLs of objects on an HTTP server; see target.h and doc/remote-format.md.
 */
#include "remote/http/target.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

static ingot_status_t init_s3_target(struct target *target, const struct url *url)
{
    const char *slash = url->path[0] != '\0' ? "/" : "";
    if (url->endpoint[0] == '\0') {
        (void)snprintf(target->base, sizeof(target->base), "https://%s.s3.%s.amazonaws.com%s%s", url->host, url->region,
                       slash, url->path);
        return INGOT_SUCCESS;
    }
    size_t length = strlen(url->endpoint);
    while (length != 0 && url->endpoint[length - 1] == '/')
        --length;
    if (strncmp(url->endpoint, "http://", 7) != 0 && strncmp(url->endpoint, "https://", 8) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the URL's option endpoint begins with neither http:// nor https://");
    if (strchr(url->endpoint, '@') != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option endpoint must not have a user");
    (void)snprintf(target->base, sizeof(target->base), "%.*s/%s%s%s", (int)length, url->endpoint, url->host, slash,
                   url->path);
    return INGOT_SUCCESS;
}

ingot_status_t target_init(struct target *target, const struct url *url, const char *name_space)
{
    target->is_flat = url->is_flat;
    (void)snprintf(target->name_space, sizeof(target->name_space), "%s", name_space);
    if (url->scheme == URL_S3)
        return init_s3_target(target, url);
    (void)snprintf(target->base, sizeof(target->base), "%s://%s%s%s%s%s", url->scheme == URL_HTTPS ? "https" : "http",
                   url->host, url->port[0] != '\0' ? ":" : "", url->port, url->path[0] != '\0' ? "/" : "", url->path);
    return INGOT_SUCCESS;
}

void target_path(const struct target *target, const char *key, char path[TARGET_PATH_CAPACITY])
{
    if (target->is_flat)
        (void)snprintf(path, TARGET_PATH_CAPACITY, "/%s", key);
    else
        (void)snprintf(path, TARGET_PATH_CAPACITY, "/ingot-1/%s/%.2s/%s", target->name_space, key, key);
}

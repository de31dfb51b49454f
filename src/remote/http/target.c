/*
 * target.c - makes the URLs of objects on an HTTP server; see target.h and doc/remote-format.md.
 */
#include "remote/http/target.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

static ingot_status_t init_s3_target(struct target *target, const struct url *url)
{
    size_t length = strlen(url->endpoint);
    while (length != 0 && url->endpoint[length - 1] == '/')
        --length;
    if (length != 0 && strncmp(url->endpoint, "http://", 7) != 0 && strncmp(url->endpoint, "https://", 8) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the URL's option endpoint begins with neither http:// nor https://");
    if (strchr(url->endpoint, '@') != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option endpoint must not have a user");
    if (length == 0)
        (void)snprintf(target->root, sizeof(target->root), "https://%s.s3.%s.amazonaws.com", url->host, url->region);
    else
        (void)snprintf(target->root, sizeof(target->root), "%.*s/%s", (int)length, url->endpoint, url->host);
    (void)snprintf(target->prefix, sizeof(target->prefix), "%s", url->path);
    (void)snprintf(target->base, sizeof(target->base), "%.*s%s%s", (int)sizeof(target->base) / 2, target->root,
                   url->path[0] != '\0' ? "/" : "", url->path);
    if (url->is_flat) /* other objects may be there */
        target->root[0] = '\0';
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

/* Appends a text with escapes for all bytes that a signed query must not have. The text's own escapes stay. */
static void append_escaped(size_t capacity, char *path, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~%";
    size_t used = strlen(path);
    for (; *text != '\0' && used + 4 < capacity; ++text)
        used += (size_t)snprintf(path + used, capacity - used, strchr(plain, *text) != NULL ? "%c" : "%%%02X",
                                 (unsigned char)*text);
}

bool target_list_path(const struct target *target, const char *key, size_t capacity, char *path)
{
    char object[TARGET_PATH_CAPACITY];
    const char *folder = target->prefix[0] != '\0' ? target->prefix : "";
    (void)snprintf(object, sizeof(object), "%singot-1/%s/", folder[0] != '\0' ? "/" : "", target->name_space);
    (void)snprintf(path, capacity, "/?list-type=2&max-keys=1000&prefix="); /* in the order that is signed */
    append_escaped(capacity, path, folder);
    append_escaped(capacity, path, object);
    if (key[0] != '\0') {
        (void)snprintf(path + strlen(path), capacity - strlen(path), "&start-after=");
        append_escaped(capacity, path, folder);
        (void)snprintf(object, sizeof(object), "%singot-1/%s/%.2s/%s", folder[0] != '\0' ? "/" : "", target->name_space,
                       key, key);
        append_escaped(capacity, path, object);
    }
    return strlen(path) + 4 < capacity;
}

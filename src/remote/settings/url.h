/*
 * url.h - the parts of a remote tier's URL; include/ingot/remote.h describes the syntax.
 */
#ifndef INGOT_REMOTE_SETTINGS_URL_H
#define INGOT_REMOTE_SETTINGS_URL_H

#include <ingot/ingot.h>
#include <stdbool.h>

#define URL_CAPACITY 2048u

enum url_scheme { URL_REDIS, URL_REDIS_TLS, URL_REDIS_UNIX, URL_HTTP, URL_HTTPS, URL_S3 };
enum url_auth { URL_AUTH_NONE, URL_AUTH_PASSWORD, URL_AUTH_BEARER, URL_AUTH_S3 };

/* Texts point into memory, and are "" if the URL does not have them. */
struct url {
    enum url_scheme scheme;
    enum url_auth auth;
    const char *user;
    const char *host; /* of s3: the bucket */
    const char *port;
    const char *path; /* without the slashes at its ends, except that of a Unix socket */
    const char *credentials;
    const char *ca;
    const char *certificate;
    const char *key;
    const char *region;
    const char *endpoint;
    bool is_flat; /* objects lie directly below the path, without name space and folders */
    char memory[URL_CAPACITY + 16];
};

/* @retval INGOT_INVALID_ARGUMENTS  The detail names the part that is wrong. Passwords are never repeated. */
ingot_status_t url_parse(struct url *url, const char *text);

#endif

/*
 * url.h - splits the URL of a remote tier into its parts; include/ingot/remote.h describes the syntax.
 */
#ifndef INGOT_REMOTE_SETTINGS_URL_H
#define INGOT_REMOTE_SETTINGS_URL_H

#include <ingot/ingot.h>
#include <stdbool.h>

#define URL_CAPACITY 2048u

enum url_scheme { URL_REDIS, URL_REDIS_TLS, URL_REDIS_UNIX, URL_HTTP, URL_HTTPS, URL_S3 };
enum url_auth { URL_AUTH_NONE, URL_AUTH_PASSWORD, URL_AUTH_BEARER, URL_AUTH_S3 };

/* The strings point into `memory`. A part that the URL does not have is "". */
struct url {
    enum url_scheme scheme;
    enum url_auth auth;
    const char *user;
    const char *host; /* for s3://, the bucket */
    const char *port;
    const char *path; /* without slashes at its ends, unless it is the path of a Unix socket */
    const char *credentials;
    const char *ca;
    const char *certificate;
    const char *key;
    const char *region;
    const char *endpoint;
    bool is_flat; /* objects are directly below `path`, not in folders for the namespace and the key */
    char memory[URL_CAPACITY + 16];
};

/* @retval INGOT_INVALID_ARGUMENTS  The detail names the part that is wrong. Passwords are never repeated. */
ingot_status_t url_parse(struct url *url, const char *text);

#endif

/*
 * access.h - holds the credentials and certificates with which a client and an HTTP server authenticate each other.
 */
#ifndef INGOT_REMOTE_HTTP_ACCESS_H
#define INGOT_REMOTE_HTTP_ACCESS_H

#include <curl/curl.h>
#include <ingot/ingot.h>

#include "remote/curl/certificates.h"
#include "remote/settings/secret_file.h"
#include "remote/settings/url.h"

struct access {
    enum url_auth auth;
    char user[256];
    char secret[SECRET_CAPACITY]; /* a password, "user:password", a token, or "access key:secret key" */
    char provider[160];           /* for libcurl's option that signs requests to S3 */
    struct certificates certificates;
};

/* @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR */
ingot_status_t access_init(struct access *access, const struct url *url);
void access_fini(struct access *access);
/* Sets the options of a libcurl handle that authenticate its requests. */
CURLcode access_apply(const struct access *access, CURL *easy);

#endif

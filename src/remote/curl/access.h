/*
 * access.h - holds the credentials and certificates with which a client and a server authenticate each other.
 */
#ifndef INGOT_REMOTE_CURL_ACCESS_H
#define INGOT_REMOTE_CURL_ACCESS_H

#include <curl/curl.h>
#include <ingot/ingot.h>

#include "remote/settings/secret_file.h"
#include "remote/settings/url.h"

struct access {
    struct url url;               /* with the files' paths */
    char secret[SECRET_CAPACITY]; /* a password, "user:password", a token, or "access key:secret key"; "": none */
    char provider[160];           /* for libcurl's option that signs requests to S3 */
};

/* Parses the URL, reads the credentials, and checks the files. The access, whose bytes are 0, must not move. Whether
 * the files have what they should have, and key and certificate belong together, connecting shows.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR */
ingot_status_t access_init(struct access *access, const char *url);
/* Overwrites the credentials. */
void access_fini(struct access *access);
/* Sets the options of a libcurl handle that use the certificates. */
CURLcode access_apply_certificates(const struct access *access, CURL *easy);
/* Sets the options that authenticate the requests of HTTP. */
CURLcode access_apply(const struct access *access, CURL *easy);

#endif

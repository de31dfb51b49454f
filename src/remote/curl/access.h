/*
 * access.h - holds the credentials and certificates with which a client and a server authenticate each other.
 */
#ifndef INGOT_REMOTE_CURL_ACCESS_H
#define INGOT_REMOTE_CURL_ACCESS_H

#include <curl/curl.h>
#include <ingot/ingot.h>

#include "remote/settings/secret_file.h"
#include "remote/settings/url.h"

#define ACCESS_PATH_CAPACITY 1024u

struct access {
    enum url_auth auth;
    char user[256];
    char secret[SECRET_CAPACITY]; /* a password, "user:password", a token, or "access key:secret key"; "": none */
    char provider[160];           /* for libcurl's option that signs requests to S3 */
    char
        ca[ACCESS_PATH_CAPACITY]; /* the authorities to trust instead of the system's; a file in PEM format; "": none */
    char certificate[ACCESS_PATH_CAPACITY];
    char key[ACCESS_PATH_CAPACITY];
};

/* Takes everything from the URL, reads the credentials, and checks the files. Whether key and certificate belong
 * together, connecting shows.
 * @retval INGOT_INVALID_ARGUMENTS  A text is too long, or a file is not one in PEM format, or a key has a password.
 * @retval INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR */
ingot_status_t access_init(struct access *access, const struct url *url);
/* Overwrites the credentials. */
void access_fini(struct access *access);
/* Sets the options of a libcurl handle that use the certificates. */
CURLcode access_apply_certificates(const struct access *access, CURL *easy);
/* Sets the options that authenticate the requests of HTTP. */
CURLcode access_apply(const struct access *access, CURL *easy);

#endif

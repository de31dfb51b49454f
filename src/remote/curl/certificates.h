/*
 * certificates.h - the certificates by which a client and a server prove to each other who they are.
 */
#ifndef INGOT_REMOTE_CURL_CERTIFICATES_H
#define INGOT_REMOTE_CURL_CERTIFICATES_H

#include <curl/curl.h>
#include <ingot/ingot.h>

#include "remote/settings/url.h"

#define CERTIFICATES_PATH_CAPACITY 1024u

/* The paths of files in PEM format; "": none. */
struct certificates {
    char ca[CERTIFICATES_PATH_CAPACITY]; /* the authorities to trust instead of the system's */
    char certificate[CERTIFICATES_PATH_CAPACITY];
    char key[CERTIFICATES_PATH_CAPACITY];
};

/* Takes the paths from the URL, and checks the files. Whether key and certificate belong together, connecting shows.
 * @retval INGOT_INVALID_ARGUMENTS  A path is too long, or a file is not one in PEM format, or a key has a password.
 * @retval INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR */
ingot_status_t certificates_init(struct certificates *certificates, const struct url *url);
/* Sets the options of a libcurl handle that use the files. */
CURLcode certificates_apply(const struct certificates *certificates, CURL *easy);

#endif

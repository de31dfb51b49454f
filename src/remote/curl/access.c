/*
 * access.c - reads a tier's credentials, checks its certificates, and passes them to libcurl; see curl.h.
 */
#include "remote/curl/curl.h"

#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Checks that a file can be read. Whether it has what it should have, connecting shows. */
static ingot_status_t check_file(const char *what, const char *path)
{
    if (path[0] == '\0' || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0)
        return INGOT_SUCCESS;
    return ingot_set_error(errno == ENOENT ? INGOT_NOT_FOUND : INGOT_IO_ERROR, errno, "%s: opening %s: %s", what, path,
                           strerror(errno));
}

ingot_status_t access_init(struct access *access, const char *text)
{
    const struct url *url = &access->url;
    ingot_status_t status = url_parse(&access->url, text);
    if (status != INGOT_SUCCESS)
        return status;
    if (strlen(url->region) > 64 || strpbrk(url->region, ":/") != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option region is not the name of a region");
    (void)snprintf(access->provider, sizeof(access->provider), "aws:amz:%s:s3", url->region);
    status = check_file("the certificates of authorities", url->ca);
    if (status == INGOT_SUCCESS)
        status = check_file("the certificate", url->certificate);
    if (status == INGOT_SUCCESS && url->key[0] != '\0')
        status = secret_file_check("the private key", url->key);
    if (status == INGOT_SUCCESS && url->credentials[0] != '\0')
        status = secret_file_read("the credentials", url->credentials, access->secret);
    return status;
}

CURLcode access_apply_certificates(const struct access *access, CURL *easy)
{
    const struct url *url = &access->url;
    if (url->ca[0] != '\0') { /* those of the file alone: libcurl would trust those in the system's folder as well */
        SET_OPTION(easy, CURLOPT_CAPATH, NULL);
        SET_OPTION(easy, CURLOPT_CAINFO, url->ca);
    }
    if (url->key[0] == '\0')
        return CURLE_OK;
    SET_OPTION(easy, CURLOPT_SSLCERT, url->certificate);
    SET_OPTION(easy, CURLOPT_SSLKEY, url->key);
    /* Without a password, OpenSSL would ask for the one of an encrypted key at the terminal. */
    return curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "");
}

CURLcode access_apply(const struct access *access, CURL *easy)
{
    switch (access->url.auth) {
    case URL_AUTH_NONE: return CURLE_OK;
    case URL_AUTH_PASSWORD: SET_OPTION(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC); break;
    case URL_AUTH_BEARER:
        SET_OPTION(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        return curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, access->secret);
    case URL_AUTH_S3: SET_OPTION(easy, CURLOPT_AWS_SIGV4, access->provider); break;
    }
    if (access->url.user[0] == '\0')
        return curl_easy_setopt(easy, CURLOPT_USERPWD, access->secret);
    SET_OPTION(easy, CURLOPT_USERNAME, access->url.user);
    return curl_easy_setopt(easy, CURLOPT_PASSWORD, access->secret);
}

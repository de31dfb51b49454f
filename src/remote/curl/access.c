/*
 * access.c - reads a tier's credentials, checks its certificates, and passes them to libcurl; see access.h.
 */
#include "remote/curl/access.h"

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

ingot_status_t access_init(struct access *access, const struct url *url)
{
    ingot_status_t status = url_parse(&access->url, url->text);
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

void access_fini(struct access *access)
{
    secret_wipe(access->secret);
}

CURLcode access_apply_certificates(const struct access *access, CURL *easy)
{
    CURLcode code = CURLE_OK;
    if (access->url.ca[0] !=
        '\0') /* those of the file alone: libcurl would trust those in the system's folder as well */
        code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (code == CURLE_OK && access->url.ca[0] != '\0')
        code = curl_easy_setopt(easy, CURLOPT_CAINFO, access->url.ca);
    if (code != CURLE_OK || access->url.key[0] == '\0')
        return code;
    code = curl_easy_setopt(easy, CURLOPT_SSLCERT, access->url.certificate);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSLKEY, access->url.key);
    /* Without a password, OpenSSL would ask for the one of an encrypted key at the terminal. */
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "") : code;
}

static CURLcode apply_secret(const struct access *access, CURL *easy)
{
    if (access->url.user[0] == '\0')
        return curl_easy_setopt(easy, CURLOPT_USERPWD, access->secret);
    const CURLcode code = curl_easy_setopt(easy, CURLOPT_USERNAME, access->url.user);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PASSWORD, access->secret) : code;
}

CURLcode access_apply(const struct access *access, CURL *easy)
{
    CURLcode code = CURLE_OK;
    switch (access->url.auth) {
    case URL_AUTH_NONE: break;
    case URL_AUTH_PASSWORD:
        code = curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        return code == CURLE_OK ? apply_secret(access, easy) : code;
    case URL_AUTH_BEARER:
        code = curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, access->secret) : code;
    case URL_AUTH_S3:
        code = curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, access->provider);
        return code == CURLE_OK ? apply_secret(access, easy) : code;
    }
    return code;
}

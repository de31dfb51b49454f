/*
 * access.c - reads a tier's credentials, checks its certificates, and passes them to libcurl; see access.h.
 */
#include "remote/curl/access.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINE_CAPACITY 256

/* Finds out whether a file has a PEM line of a kind, such as "CERTIFICATE", and no line that shows a password. */
static bool has_kind(FILE *file, const char *kind)
{
    char line[LINE_CAPACITY];
    bool is_found = false;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strstr(line, "ENCRYPTED") != NULL)
            return false;
        is_found = is_found || (strncmp(line, "-----BEGIN ", 11) == 0 && strstr(line, kind) != NULL);
    }
    return is_found;
}

/* Takes the path of a file that can be read and has what it should have. No message repeats any of it. */
static ingot_status_t take_file(const char *what, const char *path, const char *kind, char to[ACCESS_PATH_CAPACITY])
{
    if (path[0] == '\0')
        return INGOT_SUCCESS;
    if (strlen(path) >= ACCESS_PATH_CAPACITY)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the path of %s has more than %u bytes", what,
                                      ACCESS_PATH_CAPACITY - 1);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return ingot_set_error(errno == ENOENT ? INGOT_NOT_FOUND : INGOT_IO_ERROR, errno, "%s: opening %s: %s", what,
                               path, strerror(errno));
    const bool is_right = has_kind(file, kind);
    (void)fclose(file);
    memcpy(to, path, strlen(path) + 1);
    return is_right ? INGOT_SUCCESS
                    : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                             "%s: %s cannot be used; name a file in PEM format, without a password",
                                             what, path);
}

ingot_status_t access_init(struct access *access, const struct url *url)
{
    memset(access, 0, sizeof(*access));
    access->auth = url->auth;
    if (strlen(url->user) >= sizeof(access->user))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's user has more than %zu bytes",
                                      sizeof(access->user) - 1);
    memcpy(access->user, url->user, strlen(url->user) + 1);
    if (strlen(url->region) > 64 || strpbrk(url->region, ":/") != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option region is not the name of a region");
    (void)snprintf(access->provider, sizeof(access->provider), "aws:amz:%s:s3", url->region);
    ingot_status_t status = take_file("the certificates of authorities", url->ca, "CERTIFICATE", access->ca);
    if (status == INGOT_SUCCESS)
        status = take_file("the certificate", url->certificate, "CERTIFICATE", access->certificate);
    if (status == INGOT_SUCCESS && url->key[0] != '\0')
        status = secret_file_check("the private key", url->key);
    if (status == INGOT_SUCCESS)
        status = take_file("the private key", url->key, "PRIVATE KEY", access->key);
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
    if (access->ca[0] != '\0') /* those of the file alone: libcurl would trust those in the system's folder as well */
        code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (code == CURLE_OK && access->ca[0] != '\0')
        code = curl_easy_setopt(easy, CURLOPT_CAINFO, access->ca);
    if (code != CURLE_OK || access->key[0] == '\0')
        return code;
    code = curl_easy_setopt(easy, CURLOPT_SSLCERT, access->certificate);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSLKEY, access->key);
    /* Without a password, OpenSSL would ask for the one of an encrypted key at the terminal. */
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "") : code;
}

static CURLcode apply_secret(const struct access *access, CURL *easy)
{
    if (access->user[0] == '\0')
        return curl_easy_setopt(easy, CURLOPT_USERPWD, access->secret);
    const CURLcode code = curl_easy_setopt(easy, CURLOPT_USERNAME, access->user);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PASSWORD, access->secret) : code;
}

CURLcode access_apply(const struct access *access, CURL *easy)
{
    CURLcode code = CURLE_OK;
    switch (access->auth) {
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

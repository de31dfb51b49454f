/*
 * access.c - reads a tier's credentials, and passes them and its certificates to libcurl; see access.h.
 */
#include "remote/http/access.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

static ingot_status_t copy_path(const char *what, const char *from, char to[ACCESS_PATH_CAPACITY])
{
    if (strlen(from) >= ACCESS_PATH_CAPACITY)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the path of %s has more than %u bytes", what,
                                      ACCESS_PATH_CAPACITY - 1);
    memcpy(to, from, strlen(from) + 1);
    return INGOT_SUCCESS;
}

static ingot_status_t read_files(struct access *access, const struct url *url)
{
    ingot_status_t status = copy_path("the certificates of authorities", url->ca, access->ca);
    if (status == INGOT_SUCCESS)
        status = copy_path("the certificate", url->certificate, access->certificate);
    if (status == INGOT_SUCCESS)
        status = copy_path("the private key", url->key, access->key);
    if (status == INGOT_SUCCESS && access->key[0] != '\0')
        status = secret_file_check("the private key", access->key);
    if (status == INGOT_SUCCESS && url->credentials[0] != '\0')
        status = secret_file_read("the credentials", url->credentials, access->secret);
    return status;
}

static ingot_status_t check_pair(const struct access *access, const char *expected)
{
    if (access->user[0] != '\0' || strchr(access->secret, ':') != NULL)
        return INGOT_SUCCESS;
    return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the first line of the file with the credentials is not %s",
                                  expected);
}

ingot_status_t access_init(struct access *access, const struct url *url)
{
    memset(access, 0, sizeof(*access));
    access->auth = url->auth;
    (void)snprintf(access->user, sizeof(access->user), "%s", url->user);
    if (strlen(url->region) > 64 || strpbrk(url->region, ":/") != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option region is not the name of a region");
    (void)snprintf(access->provider, sizeof(access->provider), "aws:amz:%s:s3", url->region);
    ingot_status_t status = read_files(access, url);
    if (status == INGOT_SUCCESS && access->auth == URL_AUTH_PASSWORD)
        status = check_pair(access, "USER:PASSWORD");
    if (status == INGOT_SUCCESS && access->auth == URL_AUTH_S3)
        status = check_pair(access, "ACCESS_KEY:SECRET_KEY");
    if (status != INGOT_SUCCESS)
        access_fini(access);
    return status;
}

void access_fini(struct access *access)
{
    secret_wipe(access->secret);
}

static CURLcode apply_secret(const struct access *access, CURL *easy)
{
    if (access->user[0] == '\0')
        return curl_easy_setopt(easy, CURLOPT_USERPWD, access->secret);
    const CURLcode code = curl_easy_setopt(easy, CURLOPT_USERNAME, access->user);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PASSWORD, access->secret) : code;
}

static CURLcode apply_auth(const struct access *access, CURL *easy)
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

/* Trusts the authorities of the file alone. curl would trust those in the system's folder as well. */
static CURLcode apply_authorities(const struct access *access, CURL *easy)
{
    const CURLcode code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CAINFO, access->ca) : code;
}

CURLcode access_apply(const struct access *access, CURL *easy)
{
    CURLcode code = apply_auth(access, easy);
    if (code == CURLE_OK && access->ca[0] != '\0')
        code = apply_authorities(access, easy);
    if (code == CURLE_OK && access->key[0] != '\0')
        code = curl_easy_setopt(easy, CURLOPT_SSLCERT, access->certificate);
    if (code == CURLE_OK && access->key[0] != '\0')
        code = curl_easy_setopt(easy, CURLOPT_SSLKEY, access->key);
    return code;
}

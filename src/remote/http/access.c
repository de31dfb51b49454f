/*
 * access.c - reads a tier's credentials, and passes them and its certificates to libcurl; see access.h.
 */
#include "remote/http/access.h"

#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

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
    ingot_status_t status = certificates_init(&access->certificates, url);
    if (status == INGOT_SUCCESS && url->credentials[0] != '\0')
        status = secret_file_read("the credentials", url->credentials, access->secret);
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

CURLcode access_apply(const struct access *access, CURL *easy)
{
    const CURLcode code = apply_auth(access, easy);
    return code == CURLE_OK ? certificates_apply(&access->certificates, easy) : code;
}

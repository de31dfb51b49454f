/*
 * certificates.c - the certificates by which a client and a server prove to each other who they are; see
 * certificates.h.
 */
#include "remote/curl/certificates.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "remote/settings/secret_file.h"

#define LINE_CAPACITY 256

static ingot_status_t copy_path(const char *what, const char *from, char to[CERTIFICATES_PATH_CAPACITY])
{
    if (strlen(from) >= CERTIFICATES_PATH_CAPACITY)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the path of %s has more than %u bytes", what,
                                      CERTIFICATES_PATH_CAPACITY - 1);
    memcpy(to, from, strlen(from) + 1);
    return INGOT_SUCCESS;
}

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

/* Checks that a file can be read and has what it should have. No message repeats any of it. */
static ingot_status_t check_file(const char *what, const char *path, const char *kind)
{
    if (path[0] == '\0')
        return INGOT_SUCCESS;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return ingot_set_error(errno == ENOENT ? INGOT_NOT_FOUND : INGOT_IO_ERROR, errno, "%s: opening %s: %s", what,
                               path, strerror(errno));
    const bool is_right = has_kind(file, kind);
    (void)fclose(file);
    return is_right ? INGOT_SUCCESS
                    : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                             "%s: %s cannot be used; name a file in PEM format, without a password",
                                             what, path);
}

ingot_status_t certificates_init(struct certificates *certificates, const struct url *url)
{
    static const char authorities[] = "the certificates of authorities";
    static const char certificate[] = "the certificate";
    static const char key[] = "the private key";
    ingot_status_t status = copy_path(authorities, url->ca, certificates->ca);
    if (status == INGOT_SUCCESS)
        status = copy_path(certificate, url->certificate, certificates->certificate);
    if (status == INGOT_SUCCESS)
        status = copy_path(key, url->key, certificates->key);
    if (status == INGOT_SUCCESS)
        status = check_file(authorities, url->ca, "CERTIFICATE");
    if (status == INGOT_SUCCESS)
        status = check_file(certificate, url->certificate, "CERTIFICATE");
    if (status == INGOT_SUCCESS && url->key[0] != '\0')
        status = secret_file_check(key, url->key);
    return status == INGOT_SUCCESS ? check_file(key, url->key, "PRIVATE KEY") : status;
}

/* Trusts the authorities of the file alone. libcurl would trust those in the system's folder as well. */
static CURLcode apply_authorities(const struct certificates *certificates, CURL *easy)
{
    const CURLcode code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CAINFO, certificates->ca) : code;
}

CURLcode certificates_apply(const struct certificates *certificates, CURL *easy)
{
    CURLcode code = certificates->ca[0] != '\0' ? apply_authorities(certificates, easy) : CURLE_OK;
    if (code != CURLE_OK || certificates->key[0] == '\0')
        return code;
    code = curl_easy_setopt(easy, CURLOPT_SSLCERT, certificates->certificate);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSLKEY, certificates->key);
    /* Without a password, OpenSSL would ask for the one of an encrypted key at the terminal. */
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "") : code;
}

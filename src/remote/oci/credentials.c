/*
 * credentials.c - finds the credentials for a registry; see credentials.h.
 *
 * The file of `docker login` is $DOCKER_CONFIG/config.json, otherwise ~/.docker/config.json. Its owner and mode are
 * checked as for other files with credentials. Helpers that keep credentials elsewhere are not called.
 */
#include "remote/oci/credentials.h"

#include <cjson/cJSON.h>
#include <ingot/backend.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (1u << 20)

static bool find_file(size_t capacity, char *path)
{
    const char *directory = secure_getenv("DOCKER_CONFIG");
    const char *home = secure_getenv("HOME");
    int length = -1;
    if (directory != NULL && directory[0] == '/')
        length = snprintf(path, capacity, "%s/config.json", directory);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, capacity, "%s/.docker/config.json", home);
    return length > 0 && (size_t)length < capacity && access(path, R_OK) == 0;
}

static cJSON *read_json(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file != NULL ? malloc(MOST_BYTES) : NULL;
    const size_t size = text != NULL ? fread(text, 1, MOST_BYTES, file) : 0;
    cJSON *json = size != 0 && size < MOST_BYTES ? cJSON_ParseWithLength(text, size) : NULL;
    if (text != NULL)
        sodium_memzero(text, size);
    free(text);
    if (file != NULL)
        (void)fclose(file);
    return json;
}

static ingot_status_t read_docker(const char *host, char secret[SECRET_CAPACITY])
{
    char path[4096];
    size_t size = 0;
    if (!find_file(sizeof(path), path))
        return INGOT_SUCCESS;
    const ingot_status_t status = secret_file_check("the registry's credentials", path);
    if (status != INGOT_SUCCESS)
        return status;
    cJSON *json = read_json(path);
    const cJSON *auths = cJSON_GetObjectItemCaseSensitive(json, "auths");
    const cJSON *entry = cJSON_GetObjectItemCaseSensitive(auths, host);
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "auth"));
    const bool is_valid =
        text == NULL || (sodium_base642bin((unsigned char *)secret, SECRET_CAPACITY - 1, text, strlen(text), NULL,
                                           &size, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
                         memchr(secret, ':', size) != NULL && memchr(secret, '\0', size) == NULL);
    secret[is_valid ? size : 0] = '\0';
    cJSON_Delete(json);
    return is_valid ? INGOT_SUCCESS
                    : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s: the credentials for %s are malformed", path,
                                             host);
}

ingot_status_t credentials_find(const struct url *url, const char *host, char secret[SECRET_CAPACITY])
{
    char line[SECRET_CAPACITY];
    secret[0] = '\0';
    if (url->credentials[0] == '\0')
        return read_docker(host, secret);
    const ingot_status_t status = secret_file_read("the registry's credentials", url->credentials, line);
    if (status != INGOT_SUCCESS)
        return status;
    const int length = url->user[0] != '\0' ? snprintf(secret, SECRET_CAPACITY, "%s:%s", url->user, line)
                                            : snprintf(secret, SECRET_CAPACITY, "%s", line);
    secret_wipe(line);
    if (length >= (int)SECRET_CAPACITY || strchr(secret, ':') == NULL) {
        secret_wipe(secret);
        return ingot_set_error_detail(
            INGOT_INVALID_ARGUMENTS, "the first line of the file with the registry's credentials is not USER:PASSWORD");
    }
    return INGOT_SUCCESS;
}

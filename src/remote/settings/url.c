/*
 * url.c - splits the URL of a remote tier into its parts; see settings.h.
 */
#include "remote/settings/settings.h"

#include <ingot/backend.h>
#include <sodium.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *prefix;
    enum url_scheme scheme;
} schemes[] = {
    {"redis://", URL_REDIS}, {"rediss://", URL_REDIS_TLS}, {"redis+unix://", URL_REDIS_UNIX},
    {"http://", URL_HTTP},   {"https://", URL_HTTPS},      {"s3://", URL_S3},
};

static const struct {
    const char *name;
    size_t offset;
} text_options[] = {
    {"credentials", offsetof(struct url, credentials)}, {"ca", offsetof(struct url, ca)},
    {"cert", offsetof(struct url, certificate)},        {"key", offsetof(struct url, key)},
    {"region", offsetof(struct url, region)},           {"endpoint", offsetof(struct url, endpoint)},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool is_redis_on_a_host(const struct url *url)
{
    return url->scheme == URL_REDIS || url->scheme == URL_REDIS_TLS;
}

/* Replaces each %XX in place. Returns false if one of them is invalid. */
static bool decode_percent_escapes(char *text)
{
    char *out = text;
    for (; *text != '\0'; ++text, ++out) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '%') { /* reads no digits after the end of the text */
            if (sodium_hex2bin(&byte, 1, text + 1, 2, NULL, NULL, NULL) != 0 || byte < ' ')
                return false;
            text += 2;
        }
        *out = (char)byte;
    }
    *out = '\0';
    return true;
}

static ingot_status_t take_choice(struct url *url, const char *name, const char *value)
{
    if (strcmp(name, "auth") == 0 && strcmp(value, "bearer") == 0)
        url->auth = URL_AUTH_BEARER;
    else if (strcmp(name, "auth") == 0 && strcmp(value, "s3") == 0)
        url->auth = URL_AUTH_S3;
    else if (strcmp(name, "auth") == 0 && strcmp(value, "password") == 0)
        url->auth = URL_AUTH_PASSWORD;
    else if (strcmp(name, "layout") == 0 && (strcmp(value, "flat") == 0 || strcmp(value, "folders") == 0))
        url->is_flat = value[1] == 'l';
    else if (strcmp(name, "auth") == 0 || strcmp(name, "layout") == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option %s: \"%.40s\" is not %s", name, value,
                                      name[0] == 'a' ? "password, bearer or s3" : "flat or folders");
    else
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the URL has an unknown option \"%.40s\"; known are auth, ca, cert, credentials, "
                                      "endpoint, key, layout and region",
                                      name);
    return INGOT_SUCCESS;
}

static ingot_status_t take_options(struct url *url, char *text)
{
    while (text != NULL) {
        char *next = strchr(text, '&');
        if (next != NULL)
            *next++ = '\0';
        char *value = strchr(text, '=');
        if (value == NULL || value == text || value[1] == '\0')
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option \"%.40s\" is not NAME=VALUE",
                                          text);
        *value++ = '\0';
        if (!decode_percent_escapes(value))
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option %.40s has a malformed %%XX", text);
        size_t i = 0;
        while (i < COUNT_OF(text_options) && strcmp(text, text_options[i].name) != 0)
            ++i;
        if (i < COUNT_OF(text_options))
            memcpy((char *)url + text_options[i].offset, &value, sizeof(value));
        const ingot_status_t status = i < COUNT_OF(text_options) ? INGOT_SUCCESS : take_choice(url, text, value);
        if (status != INGOT_SUCCESS)
            return status;
        text = next;
    }
    return INGOT_SUCCESS;
}

/* Reads [user@]host[:port], where the host may be an IPv6 address in brackets. */
static ingot_status_t take_url_server(struct url *url, char *text)
{
    char *at = strrchr(text, '@');
    if (at != NULL) {
        *at = '\0';
        if (strchr(text, ':') != NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                          "a URL must not contain a password, which others could see; write it to a "
                                          "file with mode 0600 and name that by ?credentials=FILE");
        url->user = text;
        if (!decode_percent_escapes(text))
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's user has a malformed %%XX");
        text = at + 1;
    }
    char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;
    char *port = strchr(bracket != NULL ? bracket : text, ':');
    if (port != NULL) {
        *port++ = '\0';
        if (strspn(port, "0123456789") != strlen(port) || port[0] == '\0' || strlen(port) > 5)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's port \"%.20s\" is not a number", port);
        url->port = port;
    }
    if (text[0] == '\0' || strlen(text) > 255)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL has no host, or one of more than 255 bytes");
    url->host = text;
    return INGOT_SUCCESS;
}

static ingot_status_t check_url_path(const struct url *url)
{
    const size_t length = strlen(url->path);
    if (is_redis_on_a_host(url) && (length > 5 || strspn(url->path, "0123456789") != length))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's database \"%.20s\" is not a number",
                                      url->path);
    for (const char *c = url->path; *c != '\0'; ++c)
        if (*c <= ' ' || *c == '\x7f' || *c == '#')
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's path has a byte %#x; write it as %%XX",
                                          (unsigned)(unsigned char)*c);
    return INGOT_SUCCESS;
}

static ingot_status_t check_url_options(const struct url *url)
{
    const bool is_redis = is_redis_on_a_host(url) || url->scheme == URL_REDIS_UNIX;
    const bool is_s3 = url->scheme == URL_S3 || url->auth == URL_AUTH_S3;
    if (is_redis && (url->auth == URL_AUTH_BEARER || is_s3))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "Redis takes only a password as credentials; write it to "
                                      "a file and name the file in the option credentials");
    if (is_redis && url->scheme != URL_REDIS_TLS &&
        (url->ca[0] != '\0' || url->certificate[0] != '\0' || url->key[0] != '\0'))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the URL's options ca, cert and key are for encrypted connections; begin the URL "
                                      "with rediss://");
    if (url->credentials[0] == '\0' && url->auth != URL_AUTH_NONE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option auth needs credentials=FILE");
    if (is_s3 && url->region[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "an S3 URL needs the option region");
    if ((url->certificate[0] == '\0') != (url->key[0] == '\0'))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's options cert and key must be given together");
    if (url->endpoint[0] != '\0' && url->scheme != URL_S3)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option endpoint is only for s3://");
    return INGOT_SUCCESS;
}

static ingot_status_t take_rest(struct url *url, char *rest)
{
    char *options = strchr(rest, '?');
    if (options != NULL)
        *options++ = '\0';
    ingot_status_t status = INGOT_SUCCESS;
    char *path = strchr(rest, '/');
    if (url->scheme == URL_REDIS_UNIX) {
        if (path != rest || !decode_percent_escapes(rest))
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                          "a URL of a Unix socket is redis+unix:///ABSOLUTE/PATH");
        url->path = rest;
    } else {
        if (path != NULL) {
            size_t length = strlen(++path);
            path[-1] = '\0';
            while (length != 0 && path[length - 1] == '/')
                path[--length] = '\0';
            url->path = path + strspn(path, "/");
        }
        status = take_url_server(url, rest);
    }
    if (status == INGOT_SUCCESS && url->scheme != URL_REDIS_UNIX)
        status = check_url_path(url);
    if (status == INGOT_SUCCESS)
        status = take_options(url, options);
    return status;
}

ingot_status_t url_parse(struct url *url, const char *text)
{
    *url = (struct url){.user = "",
                        .host = "",
                        .port = "",
                        .path = "",
                        .credentials = "",
                        .ca = "",
                        .certificate = "",
                        .key = "",
                        .region = "",
                        .endpoint = ""};
    const size_t length = strnlen(text, URL_CAPACITY);
    if (length == URL_CAPACITY)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL has more than %u bytes", URL_CAPACITY - 1);
    memcpy(url->memory, text, length + 1);
    for (size_t i = 0; i < COUNT_OF(schemes); ++i) {
        const size_t prefix_length = strlen(schemes[i].prefix);
        if (strncmp(text, schemes[i].prefix, prefix_length) != 0)
            continue;
        url->scheme = schemes[i].scheme;
        ingot_status_t status = take_rest(url, url->memory + prefix_length);
        if (status != INGOT_SUCCESS)
            return status;
        if (url->auth == URL_AUTH_NONE && url->credentials[0] != '\0')
            url->auth = url->scheme == URL_S3 ? URL_AUTH_S3 : URL_AUTH_PASSWORD;
        return check_url_options(url);
    }
    return ingot_set_error_detail(
        INGOT_INVALID_ARGUMENTS,
        "the URL begins with none of redis://, rediss://, redis+unix://, http://, https:// and s3://%s",
        strncmp(text, "oci://", 6) == 0 ? "; images are moved by \"ingot push --image\" and \"ingot pull --image\""
                                        : "");
}

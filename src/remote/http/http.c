/*
 * http.c - implements the transport to HTTP servers; see base/base.h.
 *
 * Each request takes a libcurl handle from a pool (curl.h), so any number of threads may make requests at once.
 * doc/remote-format.md specifies the URLs of objects.
 */
#include <curl/curl.h>
#include <ingot/backend.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/base.h"
#include "remote/curl/curl.h"
#include "remote/http/answer.h"
#include "util/nanoseconds.h"
#include "util/write_signals.h"

#define MOST_LIST_BYTES (16u << 20) /* of a page with 1000 keys */
#define BASE_CAPACITY (2 * URL_CAPACITY)
#define PATH_CAPACITY 160u
#define LIST_CAPACITY 1900u
#define MOST_IGNORED (64u * 1024u) /* how much of an error page is read to keep the connection usable */
#define EXPECT_LIMIT_MS 100L       /* some servers never ask for the object, so it is sent after this time */
#define SHA256_HEADER_CAPACITY 96u
#define URL_OF_OBJECT_CAPACITY 4352u
#define PAGE_CAPACITY 2048u /* S3's XML is shorter */

struct http {
    struct transport_ops ops;
    const struct access *access;
    const char *name_space;
    char base[BASE_CAPACITY]; /* of the URLs of objects, without a slash at its end */
    char root[BASE_CAPACITY]; /* for S3, the base without the path; "": the server cannot list objects */
    struct pool pool;
};

/* ---- requests ----
 *
 * libcurl itself can limit only the time of a whole transfer and, in whole seconds, how long the transfer may be slow.
 * So a loop runs a transfer in short slices. It ends a transfer that has stalled for too long, has reached its
 * deadline, or must end early. */

struct exchange {
    enum http_method method;
    const char *base; /* the URL is the base and then the path */
    const char *path;
    size_t sent_size; /* for PUT */
    const uint8_t *sent;
    struct answer_body body; /* for GET; the caller sets max_size */
    /* exchange_perform sets the others, which are 0 before: an exchange is performed once */
    struct request *request;
    const struct access *access;
    struct handle *handle;
    struct curl_slist *headers;
    size_t sent_count; /* bytes that libcurl has taken */
    size_t ignored_size;
    uint64_t progress_at_ns;
    char page[PAGE_CAPACITY]; /* the beginning of an error page */
};

static size_t on_received(char *bytes, size_t one, size_t size, void *user)
{
    struct exchange *exchange = user;
    long code = 0;
    curl_off_t announced = -1;
    (void)one;
    exchange->progress_at_ns = nanoseconds_now();
    (void)curl_easy_getinfo(exchange->handle->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 || exchange->method != HTTP_GET) {
        const size_t used = strlen(exchange->page);
        (void)snprintf(exchange->page + used, PAGE_CAPACITY - used, "%.*s",
                       (int)(size < PAGE_CAPACITY ? size : PAGE_CAPACITY), bytes);
        exchange->ignored_size += size;
        return exchange->ignored_size > MOST_IGNORED ? 0 : size;
    }
    (void)curl_easy_getinfo(exchange->handle->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    return answer_body_add(&exchange->body, announced, size, bytes) ? size : 0;
}

static size_t on_sending(char *bytes, size_t one, size_t capacity, void *user)
{
    struct exchange *exchange = user;
    const size_t left = exchange->sent_size - exchange->sent_count;
    const size_t size = left < one * capacity ? left : one * capacity;
    exchange->progress_at_ns = nanoseconds_now();
    if (size != 0)
        memcpy(bytes, exchange->sent + exchange->sent_count, size);
    exchange->sent_count += size;
    return size;
}

/* libcurl calls this if the server has closed the connection and libcurl must send the body again on another one. */
static int on_rewind(void *user, curl_off_t offset, int origin)
{
    struct exchange *exchange = user;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > exchange->sent_size)
        return CURL_SEEKFUNC_FAIL;
    exchange->sent_count = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* ---- options ---- */

static bool add_header(struct exchange *exchange, const char *header)
{
    struct curl_slist *longer = curl_slist_append(exchange->headers, header);
    if (longer != NULL)
        exchange->headers = longer;
    return longer != NULL;
}

static CURLcode set_method(struct exchange *exchange, CURL *easy)
{
    const bool is_s3 = exchange->access->url.auth == URL_AUTH_S3;
    char header[SHA256_HEADER_CAPACITY] = "x-amz-content-sha256: ";
    unsigned char hash[crypto_hash_sha256_BYTES];
    switch (exchange->method) {
    case HTTP_GET: break;
    case HTTP_HEAD: SET_OPTION(easy, CURLOPT_NOBODY, 1L); break;
    case HTTP_DELETE: SET_OPTION(easy, CURLOPT_CUSTOMREQUEST, "DELETE"); break;
    case HTTP_PUT:
        /* The header "Expect:" without a value makes libcurl send the object without asking first. It is not added for
         * S3, because libcurl 7.88 signs this header as if it were sent. So libcurl asks S3 first, and S3 can refuse
         * before it receives the object. */
        if ((!is_s3 && !add_header(exchange, "Expect:")) ||
            !add_header(exchange, "Content-Type: application/octet-stream"))
            return CURLE_OUT_OF_MEMORY;
        SET_OPTION(easy, CURLOPT_UPLOAD, 1L);
        SET_OPTION(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, EXPECT_LIMIT_MS);
        SET_OPTION(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->sent_size);
        break;
    }
    if (is_s3) { /* S3 requires the hash of the body and wants it signed; older releases of libcurl do not add it */
        (void)crypto_hash_sha256(hash, exchange->sent, exchange->sent_size);
        (void)sodium_bin2hex(header + strlen(header), 2 * sizeof(hash) + 1, hash, sizeof(hash));
        if (!add_header(exchange, header))
            return CURLE_OUT_OF_MEMORY;
    }
    SET_OPTION(easy, CURLOPT_HTTPHEADER, exchange->headers);
    return CURLE_OK;
}

static CURLcode set_transfer_options(struct exchange *exchange)
{
    CURL *easy = exchange->handle->easy;
    char url[URL_OF_OBJECT_CAPACITY];
    (void)snprintf(url, sizeof(url), "%s%s", exchange->base, exchange->path);
    curl_easy_reset(easy); /* keeps the connection */
    SET_OPTION(easy, CURLOPT_URL, url);
    SET_OPTION(easy, CURLOPT_USERAGENT, "ingot");
    SET_OPTION(easy, CURLOPT_WRITEFUNCTION, on_received);
    SET_OPTION(easy, CURLOPT_WRITEDATA, exchange);
    SET_OPTION(easy, CURLOPT_READFUNCTION, on_sending);
    SET_OPTION(easy, CURLOPT_READDATA, exchange);
    SET_OPTION(easy, CURLOPT_SEEKFUNCTION, on_rewind);
    SET_OPTION(easy, CURLOPT_SEEKDATA, exchange);
    CURLcode code = handle_apply(exchange->handle, exchange->request, exchange->access);
    if (code == CURLE_OK)
        code = access_apply(exchange->access, easy);
    return code == CURLE_OK ? set_method(exchange, easy) : code;
}

/* ---- the transfer ---- */

/* Returns the outcome of a transfer that libcurl has ended. */
static enum outcome get_transfer_outcome(const struct exchange *exchange, CURLcode code)
{
    const struct answer_body *body = &exchange->body;
    struct request *request = exchange->request;
    long status = 0;
    (void)curl_easy_getinfo(exchange->handle->easy, CURLINFO_RESPONSE_CODE, &status);
    if (body->is_too_large)
        return request_fail(request, OUTCOME_TOO_LARGE, "the object has more than %zu bytes", body->max_size);
    if (body->has_no_memory)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for an object");
    if (code == CURLE_WRITE_ERROR && exchange->ignored_size > MOST_IGNORED)
        code = CURLE_OK; /* on_received has read enough of a long error page */
    return code == CURLE_OK ? answer_outcome(exchange->method, status, exchange->page, request)
                            : handle_explain(exchange->handle, code, request);
}

static void destroy_handle(struct handle *handle)
{
    if (handle_fini(handle))
        free(handle);
}

/* Performs a request on a connection of the pool. The caller frees the body of a GET that is OUTCOME_DONE. */
static enum outcome exchange_perform(struct http *http, struct request *request, struct exchange *exchange)
{
    struct handle *handle;
    while ((handle = pool_take(&http->pool)) != NULL && !sockets_are_own(&handle->sockets))
        destroy_handle(handle);
    if (handle == NULL && (handle = calloc(1, sizeof(*handle))) != NULL && !handle_init(handle)) {
        destroy_handle(handle);
        handle = NULL;
    }
    if (handle == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
    exchange->request = request;
    exchange->access = http->access;
    exchange->handle = handle;
    exchange->progress_at_ns = nanoseconds_now();
    const struct write_signals held = write_signals_hold();
    handle->error[0] = '\0';
    const CURLcode code = set_transfer_options(exchange);
    enum outcome outcome = OUTCOME_DONE;
    if (code != CURLE_OK)
        outcome = handle_explain(handle, code, request);
    else if (curl_multi_add_handle(handle->multi, handle->easy) != CURLM_OK)
        outcome = request_fail(request, OUTCOME_NO_MEMORY, "libcurl cannot begin a transfer");
    if (outcome == OUTCOME_DONE) {
        CURLcode ended = CURLE_OK;
        outcome = handle_run(handle, request, &exchange->progress_at_ns, &ended);
        if (outcome == OUTCOME_DONE)
            outcome = get_transfer_outcome(exchange, ended);
        (void)curl_multi_remove_handle(handle->multi, handle->easy); /* closes a connection that is still in use */
    }
    if (outcome != OUTCOME_DONE) {
        free(exchange->body.bytes);
        exchange->body.bytes = NULL;
    }
    curl_easy_reset(handle->easy); /* the handle must not refer to this function's memory */
    curl_slist_free_all(exchange->headers);
    sockets_settle(&handle->sockets);
    write_signals_allow(&held);
    /* without a connection, nothing would show whether the handle's descriptors are still its own */
    if (sockets_count(&handle->sockets) == 0)
        destroy_handle(handle);
    else
        pool_give(&http->pool, handle);
    return outcome;
}

/* ---- operations ---- */

/* Writes the path of an object in the server's folder, or that of the namespace's folder if the key is "". */
static void write_path(const struct http *http, const char *key, char path[PATH_CAPACITY])
{
    if (http->access->url.is_flat)
        (void)snprintf(path, PATH_CAPACITY, "/%s", key);
    else if (key[0] == '\0')
        (void)snprintf(path, PATH_CAPACITY, "/ingot-1/%s/", http->name_space);
    else
        (void)snprintf(path, PATH_CAPACITY, "/ingot-1/%s/%.2s/%s", http->name_space, key, key);
}

static enum outcome perform_key_exchange(struct http *http, struct request *request, const char *key,
                                         struct exchange *exchange)
{
    char path[PATH_CAPACITY];
    write_path(http, key, path);
    exchange->base = http->base;
    exchange->path = path;
    return exchange_perform(http, request, exchange);
}

static void release_body(ingot_buffer_t *object)
{
    free(object->owner);
}

static enum outcome http_get_object(void *self, struct request *request, const char *key, size_t max_size,
                                    ingot_buffer_t *object)
{
    struct exchange exchange = {.method = HTTP_GET, .body = {.max_size = max_size}};
    const enum outcome outcome = perform_key_exchange(self, request, key, &exchange);
    if (outcome == OUTCOME_DONE)
        *object = (ingot_buffer_t){exchange.body.size, exchange.body.bytes, release_body, exchange.body.bytes};
    return outcome;
}

static enum outcome http_put_object(void *self, struct request *request, const char *key, size_t size,
                                    const uint8_t *bytes)
{
    struct exchange exchange = {.method = HTTP_PUT, .sent_size = size, .sent = bytes};
    return perform_key_exchange(self, request, key, &exchange);
}

static enum outcome http_remove_object(void *self, struct request *request, const char *key)
{
    struct exchange exchange = {.method = HTTP_DELETE};
    return perform_key_exchange(self, request, key, &exchange);
}

static enum outcome http_has_object(void *self, struct request *request, const char *key)
{
    struct exchange exchange = {.method = HTTP_HEAD};
    return perform_key_exchange(self, request, key, &exchange);
}

/* Asks for a key that no object has. The root or a folder would not do: a server may have nothing there or refuse to
 * show it. S3 says why it refuses in the page that it sends, and an answer to HEAD has none. */
static enum outcome http_probe_server(void *self, struct request *request)
{
    static const char no_key[] = "0000000000000000000000000000000000000000000000000000000000000000";
    const struct http *http = self;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    if (http->root[0] == '\0')
        return http_has_object(self, request, no_key);
    const enum outcome outcome = http_get_object(self, request, no_key, 1, &object);
    if (outcome == OUTCOME_DONE)
        object.release(&object);
    return outcome;
}

/* Appends a text with escapes for all bytes that a signed query must not have. The text's own escapes stay. */
static void append_escaped(size_t capacity, char *path, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~%";
    size_t used = strlen(path);
    for (; *text != '\0' && used + 4 < capacity; ++text)
        used += (size_t)snprintf(path + used, capacity - used, strchr(plain, *text) != NULL ? "%c" : "%%%02X",
                                 (unsigned char)*text);
}

/* Writes what follows the root in the URL that lists the objects after the one with this key; "": from the first one.
 * Returns false if it has no room. */
static bool write_list_path(const struct http *http, const char *key, size_t capacity, char *path)
{
    char object[PATH_CAPACITY];
    const char *prefix = http->access->url.path;
    const size_t slash = prefix[0] == '\0'; /* a key does not begin with one */
    write_path(http, "", object);
    (void)snprintf(path, capacity, "/?list-type=2&max-keys=1000&prefix="); /* in the order that is signed */
    append_escaped(capacity, path, prefix);
    append_escaped(capacity, path, object + slash);
    if (key[0] != '\0') {
        write_path(http, key, object);
        (void)snprintf(path + strlen(path), capacity - strlen(path), "&start-after=");
        append_escaped(capacity, path, prefix);
        append_escaped(capacity, path, object + slash);
    }
    return strlen(path) + 4 < capacity;
}

/* Asks S3 for a page of its list. The cursor is the key of the last object of the page before. */
static enum outcome s3_list_objects(void *self, struct request *request, char cursor[TRANSPORT_CURSOR_CAPACITY],
                                    void (*visit)(void *user, const char *key), void *user)
{
    struct http *http = self;
    char path[LIST_CAPACITY];
    char before[TRANSPORT_CURSOR_CAPACITY];
    struct exchange exchange = {
        .method = HTTP_GET, .base = http->root, .path = path, .body = {.max_size = MOST_LIST_BYTES}};
    if (!write_list_path(http, cursor, sizeof(path), path))
        return request_fail(request, OUTCOME_REFUSED, "the URL's path is too long to list objects");
    enum outcome outcome = exchange_perform(http, request, &exchange);
    if (outcome != OUTCOME_DONE)
        return outcome == OUTCOME_MISSING ? request_fail(request, OUTCOME_REFUSED, "the server has no such bucket")
                                          : outcome;
    const uint8_t end = 0;
    (void)snprintf(before, sizeof(before), "%s", cursor);
    if (!answer_body_add(&exchange.body, -1, 1, &end))
        outcome = request_fail(request, OUTCOME_NO_MEMORY, "no memory for a list of objects");
    else if (!answer_list((const char *)exchange.body.bytes, cursor, visit, user))
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not a list of objects");
    else if (cursor[0] != '\0' && strcmp(cursor, before) <= 0)
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the list of objects does not go on after the last key");
    free(exchange.body.bytes);
    return outcome;
}

static void destroy_http(void *self)
{
    struct http *http = self;
    pool_fini(&http->pool);
    free(http);
}

/* ---- opening ---- */

static ingot_status_t take_target(struct http *http, const struct url *url)
{
    const char *slash = url->path[0] != '\0' ? "/" : "";
    const char *colon = url->port[0] != '\0' ? ":" : "";
    size_t length = strlen(url->endpoint);
    while (length != 0 && url->endpoint[length - 1] == '/')
        --length;
    if (url->scheme != URL_S3) {
        (void)snprintf(http->base, sizeof(http->base), "%s://%s%s%s%s%s", url->scheme == URL_HTTPS ? "https" : "http",
                       url->host, colon, url->port, slash, url->path);
        return INGOT_SUCCESS;
    }
    if (length != 0 && strncmp(url->endpoint, "http://", 7) != 0 && strncmp(url->endpoint, "https://", 8) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the URL's option endpoint begins with neither http:// nor https://");
    if (strchr(url->endpoint, '@') != NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the URL's option endpoint must not have a user");
    if (length == 0)
        (void)snprintf(http->root, sizeof(http->root), "https://%s.s3.%s.amazonaws.com", url->host, url->region);
    else
        (void)snprintf(http->root, sizeof(http->root), "%.*s/%s", (int)length, url->endpoint, url->host);
    (void)snprintf(http->base, sizeof(http->base), "%.*s%s%s", (int)BASE_CAPACITY / 2, http->root, slash, url->path);
    if (url->is_flat) /* other objects may be there */
        http->root[0] = '\0';
    return INGOT_SUCCESS;
}

ingot_status_t http_open(struct transport *transport, const struct access *access, const char *name_space)
{
    const bool has_password = access->url.auth == URL_AUTH_PASSWORD || access->url.auth == URL_AUTH_S3;
    /* if the URL names no user, the file must have it */
    if (has_password && access->url.user[0] == '\0' && strchr(access->secret, ':') == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the first line of the file with the credentials is not %s",
                                      access->url.auth == URL_AUTH_S3 ? "ACCESS_KEY:SECRET_KEY" : "USER:PASSWORD");
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    http->access = access;
    http->name_space = name_space;
    const ingot_status_t status = take_target(http, &access->url);
    if (status != INGOT_SUCCESS) {
        free(http);
        return status;
    }
    pool_init(&http->pool, destroy_handle);
    http->ops = (struct transport_ops){.get = http_get_object,
                                       .put = http_put_object,
                                       .remove = http_remove_object,
                                       .has = http_has_object,
                                       .probe = http_probe_server,
                                       .destroy = destroy_http,
                                       .list = http->root[0] != '\0' ? s3_list_objects : NULL};
    *transport = (struct transport){&http->ops, http};
    return status;
}

/*
 * exchange.c - makes requests to an HTTP server with libcurl; see exchange.h.
 *
 * libcurl itself can limit only the time of a whole transfer and, in whole seconds, how long the transfer may be slow.
 * So a loop runs the transfers in short slices. It ends a transfer that has stalled for too long, has reached its
 * deadline, or must end early.
 * Lock: one mutex for the idle handles, held for a few instructions.
 */
#include "remote/http/exchange.h"

#include <curl/curl.h>
#include <ingot/backend.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/curl/library.h"
#include "remote/curl/sockets.h"
#include "util/write_signals.h"

#define MOST_IGNORED (64u * 1024u) /* how much of an error page is read to keep the connection usable */
#define EXPECT_LIMIT_MS 100L       /* some servers never ask for the object, so it is sent after this time */
#define SHA256_HEADER_CAPACITY 96u
#define URL_OF_OBJECT_CAPACITY 4352u
#define MOST_IDLE 16u

/* Connections that libcurl keeps alive. A handle serves one call of exchange_perform at a time. */
struct http_handle {
    CURLM *multi;
    CURL *easy[HTTP_MOST_PARALLEL]; /* NULL: not needed yet */
    struct sockets sockets;         /* those of multi */
    struct http_handle *next;       /* the next idle handle in the pool */
};

struct transfer {
    struct exchange *exchange;
    CURL *easy;
    struct curl_slist *headers;
    size_t sent_size;
    size_t ignored_size;
    uint64_t progress_at_ns;
    bool is_running;
    char error[CURL_ERROR_SIZE];
};

/* Destroys the handle, or abandons it if the application has closed one of its descriptors. */
static void destroy_handle(struct http_handle *handle)
{
    if (!sockets_are_own(&handle->sockets)) {
        sockets_abandon(&handle->sockets);
        return;
    }
    for (size_t i = 0; i < HTTP_MOST_PARALLEL; ++i)
        curl_easy_cleanup(handle->easy[i]); /* this and curl_multi_cleanup accept NULL */
    (void)curl_multi_cleanup(handle->multi);
    free(handle);
}

static struct http_handle *create_handle(void)
{
    struct http_handle *handle = calloc(1, sizeof(*handle));
    if (handle == NULL)
        return NULL;
    sockets_init(&handle->sockets);
    handle->multi = curl_multi_init();
    if (handle->multi != NULL) {
        /* how many idle connections libcurl keeps open */
        (void)curl_multi_setopt(handle->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_MOST_PARALLEL);
        return handle;
    }
    destroy_handle(handle);
    return NULL;
}

/* ---- callbacks ---- */

static size_t on_received(char *bytes, size_t one, size_t size, void *user)
{
    struct transfer *transfer = user;
    long code = 0;
    curl_off_t announced = -1;
    (void)one;
    transfer->progress_at_ns = clock_now_ns();
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &code);
    const bool is_success = transfer->exchange->detail != NULL ? code >= 200 && code <= 299 : code == 200;
    if (!is_success || transfer->exchange->method != HTTP_GET) {
        transfer->ignored_size += size;
        return transfer->ignored_size > MOST_IGNORED ? 0 : size;
    }
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    return answer_body_add(&transfer->exchange->body, announced, size, bytes) ? size : 0;
}

static size_t on_sending(char *bytes, size_t one, size_t capacity, void *user)
{
    struct transfer *transfer = user;
    const size_t left = transfer->exchange->sent_size - transfer->sent_size;
    const size_t size = left < one * capacity ? left : one * capacity;
    transfer->progress_at_ns = clock_now_ns();
    if (size != 0)
        memcpy(bytes, transfer->exchange->sent + transfer->sent_size, size);
    transfer->sent_size += size;
    return size;
}

/* libcurl calls this if the server has closed the connection and libcurl must send the body again on another one. */
static int on_rewind(void *user, curl_off_t offset, int origin)
{
    struct transfer *transfer = user;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > transfer->exchange->sent_size)
        return CURL_SEEKFUNC_FAIL;
    transfer->sent_size = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* ---- options ---- */

static bool add_header(struct transfer *transfer, const char *header)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, header);
    if (longer != NULL)
        transfer->headers = longer;
    return longer != NULL;
}

/* Adds a header with the hash of the body, which is empty except for PUT. S3 requires this header and wants it signed,
 * and older releases of libcurl do not add it. */
static bool add_sha256(struct transfer *transfer)
{
    static const char name[] = "x-amz-content-sha256: ";
    char header[SHA256_HEADER_CAPACITY];
    unsigned char hash[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(hash, transfer->exchange->sent, transfer->exchange->sent_size);
    memcpy(header, name, sizeof(name));
    (void)sodium_bin2hex(header + sizeof(name) - 1, sizeof(header) - sizeof(name) + 1, hash, sizeof(hash));
    return add_header(transfer, header);
}

#define SET(option, value)                                                                                             \
    do {                                                                                                               \
        const CURLcode set_code = curl_easy_setopt(easy, option, value);                                               \
        if (set_code != CURLE_OK)                                                                                      \
            return set_code;                                                                                           \
    } while (0)

static CURLcode set_method(struct transfer *transfer, CURL *easy)
{
    const struct exchange *exchange = transfer->exchange;
    const bool is_s3 = exchange->access->auth == URL_AUTH_S3;
    switch (exchange->method) {
    case HTTP_GET: break;
    case HTTP_HEAD: SET(CURLOPT_NOBODY, 1L); break;
    case HTTP_DELETE: SET(CURLOPT_CUSTOMREQUEST, "DELETE"); break;
    case HTTP_POST:
        SET(CURLOPT_POSTFIELDSIZE, 0L);
        SET(CURLOPT_POSTFIELDS, "");
        break;
    case HTTP_PUT:
        /* The header "Expect:" without a value makes libcurl send the object without asking first. It is not added for
         * S3, because libcurl 7.88 signs this header as if it were sent. So libcurl asks S3 first, and S3 can refuse
         * before it receives the object. */
        if ((!is_s3 && !add_header(transfer, "Expect:")) ||
            (exchange->detail == NULL && !add_header(transfer, "Content-Type: application/octet-stream")))
            return CURLE_OUT_OF_MEMORY;
        SET(CURLOPT_UPLOAD, 1L);
        SET(CURLOPT_EXPECT_100_TIMEOUT_MS, EXPECT_LIMIT_MS);
        SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->sent_size);
        break;
    }
    if (is_s3 && !add_sha256(transfer))
        return CURLE_OUT_OF_MEMORY;
    for (size_t i = 0; exchange->detail != NULL && i < sizeof(exchange->detail->headers) / sizeof(char *); ++i) {
        if (exchange->detail->headers[i] != NULL && !add_header(transfer, exchange->detail->headers[i]))
            return CURLE_OUT_OF_MEMORY;
    }
    SET(CURLOPT_HTTPHEADER, transfer->headers);
    return CURLE_OK;
}

static CURLcode set_transfer_options(struct http_handle *handle, struct transfer *transfer,
                                     const struct request *request, CURL *easy)
{
    char url[URL_OF_OBJECT_CAPACITY];
    (void)snprintf(url, sizeof(url), "%s%s", transfer->exchange->base, transfer->exchange->path);
    curl_easy_reset(easy); /* keeps the connection */
    SET(CURLOPT_URL, url);
    SET(CURLOPT_USERAGENT, "ingot");
    SET(CURLOPT_WRITEFUNCTION, on_received);
    SET(CURLOPT_WRITEDATA, transfer);
    SET(CURLOPT_READFUNCTION, on_sending);
    SET(CURLOPT_READDATA, transfer);
    SET(CURLOPT_SEEKFUNCTION, on_rewind);
    SET(CURLOPT_SEEKDATA, transfer);
    CURLcode code = library_apply(easy, request, transfer->exchange->access, &handle->sockets, transfer->error);
    if (code == CURLE_OK)
        code = access_apply(transfer->exchange->access, easy);
    return code == CURLE_OK ? set_method(transfer, easy) : code;
}

/* ---- the transfer ---- */

static void copy_header(CURL *easy, const char *name, size_t capacity, char *value)
{
    struct curl_header *header = NULL;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK && strlen(header->value) < capacity)
        memcpy(value, header->value, strlen(header->value) + 1);
}

static void fill_detail(const struct transfer *transfer, long status)
{
    struct exchange_detail *detail = transfer->exchange->detail;
    char *redirect = NULL;
    detail->status = status;
    detail->location[0] = detail->challenge[0] = detail->retry_after[0] = '\0';
    copy_header(transfer->easy, "WWW-Authenticate", sizeof(detail->challenge), detail->challenge);
    copy_header(transfer->easy, "Retry-After", sizeof(detail->retry_after), detail->retry_after);
    copy_header(transfer->easy, "Location", sizeof(detail->location), detail->location);
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_REDIRECT_URL, &redirect);
    if (redirect != NULL && strlen(redirect) < sizeof(detail->location)) /* the same, but absolute */
        memcpy(detail->location, redirect, strlen(redirect) + 1);
}

static enum outcome get_transfer_outcome(const struct transfer *transfer, CURLcode code, struct request *request)
{
    const struct answer_body *body = &transfer->exchange->body;
    long status = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (body->is_too_large)
        return request_fail(request, OUTCOME_TOO_LARGE, "the object has more than %zu bytes", body->max_size);
    if (body->has_no_memory)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for an object");
    if (code == CURLE_WRITE_ERROR && transfer->ignored_size > MOST_IGNORED)
        code = CURLE_OK; /* on_received has read enough of a long error page */
    if (code != CURLE_OK)
        return library_explain(transfer->easy, code, transfer->error, request);
    if (transfer->exchange->detail == NULL)
        return answer_outcome(transfer->exchange->method, status, request);
    fill_detail(transfer, status);
    return OUTCOME_DONE;
}

static void end_transfer(struct http_handle *handle, struct transfer *transfer, enum outcome outcome)
{
    struct answer_body *body = &transfer->exchange->body;
    transfer->exchange->outcome = outcome;
    transfer->exchange->ended_ns = clock_now_ns();
    if (outcome != OUTCOME_DONE) {
        free(body->bytes);
        body->bytes = NULL;
    }
    if (transfer->is_running)
        (void)curl_multi_remove_handle(handle->multi, transfer->easy); /* closes the connection if it is still in use */
    transfer->is_running = false;
}

static void begin_transfer(struct http_handle *handle, size_t number, struct transfer *transfer)
{
    struct request *request = transfer->exchange->request;
    if (handle->easy[number] == NULL)
        handle->easy[number] = curl_easy_init();
    transfer->easy = handle->easy[number];
    if (transfer->easy == NULL) {
        end_transfer(handle, transfer, request_fail(request, OUTCOME_NO_MEMORY, "no memory for a transfer"));
        return;
    }
    const CURLcode code = set_transfer_options(handle, transfer, request, transfer->easy);
    if (code != CURLE_OK) {
        end_transfer(handle, transfer, library_explain(transfer->easy, code, transfer->error, request));
        return;
    }
    transfer->is_running = curl_multi_add_handle(handle->multi, transfer->easy) == CURLM_OK;
    if (!transfer->is_running)
        end_transfer(handle, transfer, request_fail(request, OUTCOME_NO_MEMORY, "libcurl cannot begin a transfer"));
}

/* Takes the results of transfers that libcurl has ended. */
static void take_results(struct http_handle *handle, size_t count, struct transfer *transfers)
{
    int left = 0;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(handle->multi, &left)) != NULL) {
        const CURLcode code = message->data.result;
        const CURL *easy = message->easy_handle; /* the message is freed with the transfer */
        for (size_t i = 0; i < count; ++i)
            if (transfers[i].is_running && transfers[i].easy == easy)
                end_transfer(handle, &transfers[i],
                             get_transfer_outcome(&transfers[i], code, transfers[i].exchange->request));
    }
}

/* Ends a transfer whose time has run out. Returns the moment at which a transfer that is still running must end, or
 * CLOCK_NEVER if the transfer is not running. */
static uint64_t check_transfer_time(struct http_handle *handle, struct transfer *transfer, uint64_t now_ns)
{
    struct request *request = transfer->exchange->request;
    const uint64_t moment_ns = request_stall_moment(request, transfer->progress_at_ns);
    if (transfer->is_running && request_is_ended(request))
        end_transfer(handle, transfer, request_fail(request, OUTCOME_ENDED, "ended early"));
    else if (transfer->is_running && now_ns >= moment_ns)
        end_transfer(handle, transfer, request_fail(request, OUTCOME_TIMED_OUT, "timed out"));
    return transfer->is_running ? moment_ns : CLOCK_NEVER;
}

/* Advances all transfers as far as possible without waiting. Returns the moment until which the transfers wait for the
 * network, or CLOCK_NEVER if all have ended. */
static uint64_t advance_transfers(struct http_handle *handle, size_t count, struct transfer *transfers)
{
    int running = 0;
    uint64_t moment_ns = CLOCK_NEVER;
    const bool can_go_on = curl_multi_perform(handle->multi, &running) == CURLM_OK;
    take_results(handle, count, transfers);
    const uint64_t now_ns = clock_now_ns();
    for (size_t i = 0; i < count; ++i) {
        struct request *request = transfers[i].exchange->request;
        if (transfers[i].is_running && !can_go_on)
            end_transfer(handle, &transfers[i],
                         request_fail(request, OUTCOME_NO_MEMORY, "libcurl cannot continue a transfer"));
        else if (transfers[i].is_running && running == 0)
            end_transfer(handle, &transfers[i],
                         request_fail(request, OUTCOME_UNREACHABLE, "libcurl returned no result"));
        const uint64_t own_ns = check_transfer_time(handle, &transfers[i], now_ns);
        if (own_ns < moment_ns)
            moment_ns = own_ns;
    }
    return moment_ns;
}

static void perform_exchanges(struct http_handle *handle, size_t count, struct exchange *exchanges)
{
    struct transfer transfers[HTTP_MOST_PARALLEL];
    const struct write_signals held = write_signals_hold();
    for (size_t i = 0; i < count; ++i) {
        transfers[i] = (struct transfer){.exchange = &exchanges[i], .progress_at_ns = clock_now_ns()};
        begin_transfer(handle, i, &transfers[i]);
    }
    uint64_t moment_ns;
    while ((moment_ns = advance_transfers(handle, count, transfers)) != CLOCK_NEVER)
        (void)curl_multi_poll(handle->multi, NULL, 0, request_slice_ms(clock_now_ns(), moment_ns), NULL);
    for (size_t i = 0; i < count; ++i) {
        if (transfers[i].easy != NULL)
            curl_easy_reset(transfers[i].easy); /* the handle must not refer to this function's memory */
        curl_slist_free_all(transfers[i].headers);
    }
    sockets_settle(&handle->sockets);
    write_signals_allow(&held);
}

/* ---- the pool ---- */

ingot_status_t http_pool_init(struct http_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    return library_init();
}

static struct http_handle *take_idle_http_handle(struct http_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    struct http_handle *handle = pool->idle;
    if (handle != NULL) {
        pool->idle = handle->next;
        --pool->idle_count;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return handle;
}

/* Keeps a handle, unless it has no connection: then nothing would show whether its descriptors are still its own. */
static void give_handle(struct http_pool *pool, struct http_handle *handle)
{
    const bool is_connected = sockets_count(&handle->sockets) != 0;
    (void)pthread_mutex_lock(&pool->lock);
    const bool is_kept = is_connected && pool->idle_count < MOST_IDLE;
    if (is_kept) {
        handle->next = pool->idle;
        pool->idle = handle;
        ++pool->idle_count;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (!is_kept)
        destroy_handle(handle);
}

static struct http_handle *take_handle(struct http_pool *pool)
{
    struct http_handle *handle;
    while ((handle = take_idle_http_handle(pool)) != NULL) {
        if (sockets_are_own(&handle->sockets))
            return handle;
        destroy_handle(handle);
    }
    return create_handle();
}

void exchange_perform(struct http_pool *pool, size_t count, struct exchange *exchanges)
{
    struct http_handle *handle = take_handle(pool);
    if (handle != NULL) {
        perform_exchanges(handle, count, exchanges);
        give_handle(pool, handle);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        exchanges[i].outcome = request_fail(exchanges[i].request, OUTCOME_NO_MEMORY, "no memory for a connection");
        exchanges[i].ended_ns = clock_now_ns();
    }
}

void http_pool_fini(struct http_pool *pool)
{
    struct http_handle *handle;
    while ((handle = take_idle_http_handle(pool)) != NULL)
        destroy_handle(handle);
    (void)pthread_mutex_destroy(&pool->lock);
}

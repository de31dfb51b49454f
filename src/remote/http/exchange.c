/*
 * exchange.c - makes requests to an HTTP server with libcurl; see exchange.h.
 *
 * libcurl itself can limit only the time of a whole transfer and, in whole seconds, how long the transfer may be slow.
 * So a loop runs a transfer in short slices. It ends a transfer that has stalled for too long, has reached its
 * deadline, or must end early.
 */
#include "remote/http/exchange.h"

#include <curl/curl.h>
#include <ingot/backend.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/curl/curl.h"
#include "util/nanoseconds.h"
#include "util/write_signals.h"

#define MOST_IGNORED (64u * 1024u) /* how much of an error page is read to keep the connection usable */
#define EXPECT_LIMIT_MS 100L       /* some servers never ask for the object, so it is sent after this time */
#define SHA256_HEADER_CAPACITY 96u
#define URL_OF_OBJECT_CAPACITY 4352u
#define PAGE_CAPACITY 2048u /* S3's XML is shorter */

struct transfer {
    struct exchange *exchange;
    struct handle *handle;
    struct curl_slist *headers;
    size_t sent_size;
    size_t ignored_size;
    uint64_t progress_at_ns;
    char page[PAGE_CAPACITY]; /* the beginning of an error page */
};

/* ---- callbacks ---- */

static size_t on_received(char *bytes, size_t one, size_t size, void *user)
{
    struct transfer *transfer = user;
    long code = 0;
    curl_off_t announced = -1;
    (void)one;
    transfer->progress_at_ns = nanoseconds_now();
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 || transfer->exchange->method != HTTP_GET) {
        const size_t used = strlen(transfer->page);
        (void)snprintf(transfer->page + used, PAGE_CAPACITY - used, "%.*s",
                       (int)(size < PAGE_CAPACITY ? size : PAGE_CAPACITY), bytes);
        transfer->ignored_size += size;
        return transfer->ignored_size > MOST_IGNORED ? 0 : size;
    }
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    return answer_body_add(&transfer->exchange->body, announced, size, bytes) ? size : 0;
}

static size_t on_sending(char *bytes, size_t one, size_t capacity, void *user)
{
    struct transfer *transfer = user;
    const size_t left = transfer->exchange->sent_size - transfer->sent_size;
    const size_t size = left < one * capacity ? left : one * capacity;
    transfer->progress_at_ns = nanoseconds_now();
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

static CURLcode set_method(struct transfer *transfer, CURL *easy)
{
    const struct exchange *exchange = transfer->exchange;
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
        if ((!is_s3 && !add_header(transfer, "Expect:")) ||
            !add_header(transfer, "Content-Type: application/octet-stream"))
            return CURLE_OUT_OF_MEMORY;
        SET_OPTION(easy, CURLOPT_UPLOAD, 1L);
        SET_OPTION(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, EXPECT_LIMIT_MS);
        SET_OPTION(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->sent_size);
        break;
    }
    if (is_s3) { /* S3 requires the hash of the body and wants it signed; older releases of libcurl do not add it */
        (void)crypto_hash_sha256(hash, exchange->sent, exchange->sent_size);
        (void)sodium_bin2hex(header + strlen(header), 2 * sizeof(hash) + 1, hash, sizeof(hash));
        if (!add_header(transfer, header))
            return CURLE_OUT_OF_MEMORY;
    }
    SET_OPTION(easy, CURLOPT_HTTPHEADER, transfer->headers);
    return CURLE_OK;
}

static CURLcode set_transfer_options(struct transfer *transfer)
{
    CURL *easy = transfer->handle->easy;
    char url[URL_OF_OBJECT_CAPACITY];
    (void)snprintf(url, sizeof(url), "%s%s", transfer->exchange->base, transfer->exchange->path);
    curl_easy_reset(easy); /* keeps the connection */
    SET_OPTION(easy, CURLOPT_URL, url);
    SET_OPTION(easy, CURLOPT_USERAGENT, "ingot");
    SET_OPTION(easy, CURLOPT_WRITEFUNCTION, on_received);
    SET_OPTION(easy, CURLOPT_WRITEDATA, transfer);
    SET_OPTION(easy, CURLOPT_READFUNCTION, on_sending);
    SET_OPTION(easy, CURLOPT_READDATA, transfer);
    SET_OPTION(easy, CURLOPT_SEEKFUNCTION, on_rewind);
    SET_OPTION(easy, CURLOPT_SEEKDATA, transfer);
    CURLcode code = handle_apply(transfer->handle, transfer->exchange->request, transfer->exchange->access);
    if (code == CURLE_OK)
        code = access_apply(transfer->exchange->access, easy);
    return code == CURLE_OK ? set_method(transfer, easy) : code;
}

/* ---- the transfer ---- */

/* Returns the outcome of a transfer that libcurl has ended. */
static enum outcome get_transfer_outcome(const struct transfer *transfer, CURLcode code)
{
    const struct answer_body *body = &transfer->exchange->body;
    struct request *request = transfer->exchange->request;
    long status = 0;
    (void)curl_easy_getinfo(transfer->handle->easy, CURLINFO_RESPONSE_CODE, &status);
    if (body->is_too_large)
        return request_fail(request, OUTCOME_TOO_LARGE, "the object has more than %zu bytes", body->max_size);
    if (body->has_no_memory)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for an object");
    if (code == CURLE_WRITE_ERROR && transfer->ignored_size > MOST_IGNORED)
        code = CURLE_OK; /* on_received has read enough of a long error page */
    return code == CURLE_OK ? answer_outcome(transfer->exchange->method, status, transfer->page, request)
                            : handle_explain(transfer->handle, code, request);
}

static void destroy_handle(struct handle *handle)
{
    if (handle_fini(handle))
        free(handle);
}

enum outcome exchange_perform(struct pool *pool, struct exchange *exchange)
{
    struct handle *handle;
    while ((handle = pool_take(pool)) != NULL && !sockets_are_own(&handle->sockets))
        destroy_handle(handle);
    if (handle == NULL && (handle = calloc(1, sizeof(*handle))) != NULL && !handle_init(handle)) {
        destroy_handle(handle);
        handle = NULL;
    }
    if (handle == NULL)
        return request_fail(exchange->request, OUTCOME_NO_MEMORY, "no memory for a connection");
    struct transfer transfer = {.exchange = exchange, .handle = handle, .progress_at_ns = nanoseconds_now()};
    const struct write_signals held = write_signals_hold();
    handle->error[0] = '\0';
    const CURLcode code = set_transfer_options(&transfer);
    enum outcome outcome = OUTCOME_DONE;
    if (code != CURLE_OK)
        outcome = handle_explain(handle, code, exchange->request);
    else if (curl_multi_add_handle(handle->multi, handle->easy) != CURLM_OK)
        outcome = request_fail(exchange->request, OUTCOME_NO_MEMORY, "libcurl cannot begin a transfer");
    if (outcome == OUTCOME_DONE) {
        CURLcode ended = CURLE_OK;
        outcome = handle_run(handle, exchange->request, &transfer.progress_at_ns, &ended);
        if (outcome == OUTCOME_DONE)
            outcome = get_transfer_outcome(&transfer, ended);
        (void)curl_multi_remove_handle(handle->multi, handle->easy); /* closes a connection that is still in use */
    }
    if (outcome != OUTCOME_DONE) {
        free(exchange->body.bytes);
        exchange->body.bytes = NULL;
    }
    curl_easy_reset(handle->easy); /* the handle must not refer to this function's memory */
    curl_slist_free_all(transfer.headers);
    sockets_settle(&handle->sockets);
    write_signals_allow(&held);
    /* without a connection, nothing would show whether the handle's descriptors are still its own */
    if (sockets_count(&handle->sockets) == 0 || !pool_give(pool, handle))
        destroy_handle(handle);
    return outcome;
}

void exchange_end_pool(struct pool *pool)
{
    struct handle *handle;
    while ((handle = pool_take(pool)) != NULL)
        destroy_handle(handle);
    (void)pthread_mutex_destroy(&pool->lock);
}

/*
 * library.c - what all uses of libcurl share; see curl.h.
 */
#include "remote/curl/curl.h"

#include <dlfcn.h>
#include <ingot/backend.h>
#include <pthread.h>
#include <string.h>

#include "util/nanoseconds.h"

#define LONGEST_HEAD_START_MS 200L
#define HEAD_START_PARTS 4
#define MOST_IDLE 16u
#define MOST_CONNECTIONS 2L /* that libcurl keeps for a handle */

#define OPENSSL_WITHOUT_ATEXIT UINT64_C(0x80000) /* OPENSSL_INIT_NO_ATEXIT */

static CURLcode global_code;

/* Makes OpenSSL keep its memory while the process ends, if libcurl uses OpenSSL and nobody has used it before. Ingot
 * does nothing in exit(), so threads may still be using encrypted connections when OpenSSL's handler would free its
 * memory. */
static void init_curl(void)
{
    int (*init)(uint64_t, const void *) = NULL;
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    void *found = library != NULL ? dlsym(library, "OPENSSL_init_crypto") : NULL;
    memcpy(&init, &found, sizeof(init));
    if (init != NULL)
        (void)init(OPENSSL_WITHOUT_ATEXIT, NULL);
    global_code = curl_global_init(CURL_GLOBAL_DEFAULT); /* never undone: the application may use libcurl, too */
}

ingot_status_t library_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, init_curl);
    if (global_code == CURLE_OK)
        return INGOT_SUCCESS;
    return ingot_set_error_detail(global_code == CURLE_NOT_BUILT_IN ? INGOT_UNIMPLEMENTED : INGOT_OUT_OF_MEMORY,
                                  "libcurl cannot be used: %s", curl_easy_strerror(global_code));
}

bool handle_init(struct handle *handle)
{
    sockets_init(&handle->sockets);
    handle->multi = curl_multi_init();
    handle->easy = curl_easy_init();
    if (handle->multi == NULL || handle->easy == NULL)
        return false;
    (void)curl_multi_setopt(handle->multi, CURLMOPT_MAXCONNECTS, MOST_CONNECTIONS);
    return true;
}

bool handle_fini(struct handle *handle)
{
    if (!sockets_are_own(&handle->sockets)) {
        sockets_abandon(&handle->sockets);
        return false;
    }
    if (handle->multi != NULL && handle->easy != NULL)
        (void)curl_multi_remove_handle(handle->multi, handle->easy); /* closes a connection that only passes bytes */
    curl_easy_cleanup(handle->easy);
    (void)curl_multi_cleanup(handle->multi);
    return true;
}

CURLcode handle_apply(struct handle *handle, const struct request *request, const struct access *access)
{
    CURL *easy = handle->easy;
    const uint64_t span_ms = request->connect_limit_ns / NS_PER_MS + 1;
    const long limit_ms = span_ms < INT32_MAX ? (long)span_ms : INT32_MAX;
    /* for how long an IPv6 address is tried alone if the server also has an IPv4 address */
    const long part_ms = limit_ms / HEAD_START_PARTS + 1;
    const long head_start_ms = part_ms < LONGEST_HEAD_START_MS ? part_ms : LONGEST_HEAD_START_MS;
    const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_QUICK_EXIT, 1}, /* keeps libcurl from waiting for a name service that does not answer */
        {CURLOPT_TCP_KEEPALIVE, 1},
        {CURLOPT_CONNECTTIMEOUT_MS, limit_ms},
        {CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, head_start_ms},
    };
    SET_OPTION(easy, CURLOPT_ERRORBUFFER, handle->error);
    SET_OPTION(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i)
        SET_OPTION(easy, numbers[i].option, numbers[i].value);
    const CURLcode code = sockets_apply(&handle->sockets, easy);
    return code == CURLE_OK ? access_apply_certificates(access, easy) : code;
}

enum outcome handle_run(struct handle *handle, struct request *request, const uint64_t *progress_at_ns, CURLcode *code)
{
    const uint64_t connect_moment_ns = request_connect_moment(request, nanoseconds_now());
    for (;;) {
        int running = 0;
        int left = 0;
        const bool can_go_on = curl_multi_perform(handle->multi, &running) == CURLM_OK;
        const CURLMsg *message = curl_multi_info_read(handle->multi, &left);
        if (message != NULL) {
            *code = message->data.result;
            return OUTCOME_DONE;
        }
        if (!can_go_on)
            return request_fail(request, OUTCOME_NO_MEMORY, "libcurl cannot go on");
        const uint64_t now_ns = nanoseconds_now();
        const uint64_t moment_ns =
            progress_at_ns != NULL ? request_stall_moment(request, *progress_at_ns) : connect_moment_ns;
        if (request_is_ended(request))
            return request_fail(request, OUTCOME_ENDED, "ended early");
        if (now_ns >= moment_ns)
            return request_fail(request, OUTCOME_TIMED_OUT,
                                progress_at_ns != NULL ? "timed out" : "connecting timed out");
        (void)curl_multi_poll(handle->multi, NULL, 0, request_slice_ms(now_ns, moment_ns), NULL);
    }
}

/* ---- errors ---- */

/* Explains why the encryption of a connection failed. A server that refuses a client says so by an alert. If the server
 * or the network only ended the connection, nobody was refused. libcurl tells these apart by its text alone. */
static enum outcome explain_encryption(const char *text, struct request *request)
{
    static const char *const ends[] = {"SSL_ERROR_SYSCALL", "SSL_ERROR_ZERO_RETURN", "unexpected eof", "reset by peer",
                                       "Broken pipe"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); ++i)
        if (strstr(text, ends[i]) != NULL)
            return request_fail(request, OUTCOME_UNREACHABLE, "the server closed the encrypted connection: %.200s",
                                text);
    return request_fail(request, OUTCOME_REFUSED, "encrypting the connection: %.250s", text);
}

enum outcome handle_explain(struct handle *handle, CURLcode code, struct request *request)
{
    const char *text = handle->error[0] != '\0' ? handle->error : curl_easy_strerror(code);
    long os_error = 0;
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        (void)curl_easy_getinfo(handle->easy, CURLINFO_OS_ERRNO, &os_error);
        return request_fail(request, OUTCOME_UNREACHABLE, "%.200s%s%s", text, os_error != 0 ? ": " : "",
                            os_error != 0 ? strerror((int)os_error) : "");
    case CURLE_OPERATION_TIMEDOUT: return request_fail(request, OUTCOME_TIMED_OUT, "%.250s", text);
    case CURLE_OUT_OF_MEMORY: return request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
    case CURLE_PEER_FAILED_VERIFICATION:
        return request_fail(request, OUTCOME_REFUSED, "the server's certificate is not accepted: %.220s", text);
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_LOGIN_DENIED: return request_fail(request, OUTCOME_REFUSED, "%.250s", text);
    case CURLE_SSL_CONNECT_ERROR: return explain_encryption(text, request);
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_URL_MALFORMAT: return request_fail(request, OUTCOME_BAD_ANSWER, "%.250s", text);
    default: /* of an established connection */
        return strstr(text, " alert ") != NULL ? explain_encryption(text, request)
                                               : request_fail(request, OUTCOME_UNREACHABLE, "%.250s", text);
    }
}

/* ---- the pool ---- */

void pool_init(struct pool *pool, void (*close)(struct handle *handle))
{
    *pool = (struct pool){.close = close};
    pthread_mutex_init(&pool->lock, NULL);
}

void pool_fini(struct pool *pool)
{
    pool_empty(pool);
    (void)pthread_mutex_destroy(&pool->lock);
}

struct handle *pool_take(struct pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    struct handle *handle = pool->idle;
    if (handle != NULL) {
        pool->idle = handle->next;
        --pool->idle_count;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return handle;
}

void pool_give(struct pool *pool, struct handle *handle)
{
    handle->idle_since_ns = nanoseconds_of(CLOCK_BOOTTIME);
    (void)pthread_mutex_lock(&pool->lock);
    const bool has_room = pool->idle_count < MOST_IDLE;
    if (has_room) {
        handle->next = pool->idle;
        pool->idle = handle;
        ++pool->idle_count;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (!has_room)
        pool->close(handle);
}

void pool_empty(struct pool *pool)
{
    struct handle *handle;
    while ((handle = pool_take(pool)) != NULL)
        pool->close(handle);
}

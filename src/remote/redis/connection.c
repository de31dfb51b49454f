/*
 * connection.c - a connection to Redis or Valkey through libcurl; see connection.h.
 */
#include "remote/redis/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "remote/curl/curl.h"
#include "util/nanoseconds.h"

#define ALERT " alert "
#define LINE_SIZE 4096u /* room for the first line of a reply */
#define MOST_ELEMENTS 65536u

/* ---- connecting ---- */

/* Takes the text of an alert. A server that refuses this client says why by an alert after the handshake, and ends the
 * connection. libcurl may have written another text to the buffer for errors before, and writes only the first. */
static int on_text(CURL *easy, curl_infotype kind, char *text, size_t size, void *user)
{
    struct handle *handle = user;
    (void)easy;
    if (kind != CURLINFO_TEXT || memmem(text, size, ALERT, sizeof(ALERT) - 1) == NULL)
        return 0;
    if (text[size - 1] == '\n')
        --size;
    const size_t length = size < CURL_ERROR_SIZE ? size : CURL_ERROR_SIZE - 1;
    memcpy(handle->error, text, length);
    handle->error[length] = '\0';
    return 0;
}

static CURLcode set_connection_options(struct handle *handle, const char *url, const struct access *access,
                                       const struct request *request)
{
    CURL *easy = handle->easy;
    const CURLcode code = handle_apply(handle, request, access);
    if (code != CURLE_OK)
        return code;
    SET_OPTION(easy, CURLOPT_URL, url);
    SET_OPTION(easy, CURLOPT_UNIX_SOCKET_PATH, access->url.scheme == URL_REDIS_UNIX ? access->url.path : NULL);
    SET_OPTION(easy, CURLOPT_PROXY, ""); /* the variables for proxies do not apply to Redis */
    SET_OPTION(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    SET_OPTION(easy, CURLOPT_DEBUGFUNCTION, on_text);
    SET_OPTION(easy, CURLOPT_DEBUGDATA, handle);
    SET_OPTION(easy, CURLOPT_VERBOSE, 1L);
    return curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
}

static enum outcome connect_to(struct redis_connection *connection, const char *url, const struct access *access,
                               struct request *request)
{
    struct handle *handle = &connection->handle;
    CURLcode code = set_connection_options(handle, url, access, request);
    if (code != CURLE_OK)
        return handle_explain(handle, code, request);
    if (curl_multi_add_handle(handle->multi, handle->easy) != CURLM_OK)
        return request_fail(request, OUTCOME_NO_MEMORY, "libcurl cannot begin to connect");
    enum outcome outcome = handle_run(handle, request, NULL, &code);
    if (outcome == OUTCOME_DONE && code != CURLE_OK)
        outcome = handle_explain(handle, code, request);
    sockets_settle(&handle->sockets);
    if (outcome == OUTCOME_DONE)
        handle->error[0] = '\0'; /* what an address said that does not answer */
    if (outcome == OUTCOME_DONE &&
        curl_easy_getinfo(handle->easy, CURLINFO_ACTIVESOCKET, &connection->socket) != CURLE_OK)
        return request_fail(request, OUTCOME_UNREACHABLE, "libcurl lost the connection");
    return outcome;
}

/* Refuses a list that is too long before memory for its elements is allocated. hiredis 0.14 has no limit itself. */
static void *create_list(const redisReadTask *task, redis_element_count_t count)
{
    struct redis_connection *connection = task->privdata;
    connection->element_count += (size_t)count;
    return connection->element_count <= MOST_ELEMENTS ? connection->create_list(task, count) : NULL;
}

enum outcome redis_connection_open(const char *url, const struct access *access, struct request *request,
                                   struct redis_connection **connection)
{
    struct redis_connection *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
    made->reader = redisReaderCreate();
    if (made->reader != NULL) {
        made->functions = *made->reader->fn;
        made->create_list = made->functions.createArray;
        made->functions.createArray = create_list;
        made->reader->fn = &made->functions;
        made->reader->privdata = made;
    }
    const enum outcome outcome = handle_init(&made->handle) && made->reader != NULL
                                     ? connect_to(made, url, access, request)
                                     : request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
    if (outcome == OUTCOME_DONE)
        *connection = made;
    else
        redis_connection_close(made);
    return outcome;
}

void redis_connection_close(struct redis_connection *connection)
{
    if (connection == NULL)
        return;
    if (connection->reader != NULL)
        redisReaderFree(connection->reader);
    if (handle_fini(&connection->handle))
        free(connection);
}

bool redis_connection_is_idle(struct redis_connection *connection)
{
    struct handle *handle = &connection->handle;
    char byte;
    size_t size = 0;
    return sockets_are_own(&handle->sockets) && curl_easy_recv(handle->easy, &byte, 1, &size) == CURLE_AGAIN;
}

/* ---- bytes ---- */

/* Waits a little for the socket. The caller then tries again, whether the socket is ready or not, because TLS may have
 * to send before it can receive. */
static enum outcome wait_slice(const struct redis_connection *connection, struct request *request, short events,
                               uint64_t moment_ns)
{
    struct pollfd polled = {.fd = connection->socket, .events = events};
    const uint64_t now_ns = nanoseconds_now();
    if (request_is_ended(request))
        return request_fail(request, OUTCOME_ENDED, "ended early");
    if (now_ns >= moment_ns)
        return request_fail(request, OUTCOME_TIMED_OUT, "timed out");
    if (poll(&polled, 1, request_slice_ms(now_ns, moment_ns)) < 0 && errno != EINTR)
        return request_fail(request, OUTCOME_UNREACHABLE, "poll: %s", strerror(errno));
    return OUTCOME_DONE;
}

/* Sends all bytes. */
static enum outcome send_bytes(struct redis_connection *connection, struct request *request, size_t size,
                               const void *bytes)
{
    const char *next = bytes;
    uint64_t moment_ns = 0; /* when the server will have stalled; 0: it accepts bytes */
    while (size != 0) {
        size_t sent = 0;
        const CURLcode code = curl_easy_send(connection->handle.easy, next, size, &sent);
        if (code != CURLE_OK && code != CURLE_AGAIN) {
            char byte;
            (void)curl_easy_recv(connection->handle.easy, &byte, 1,
                                 &sent); /* the server's reason may have arrived before */
            return handle_explain(&connection->handle, code, request);
        }
        next += sent;
        size -= sent;
        if (sent != 0 || moment_ns == 0)
            moment_ns = request_stall_moment(request, nanoseconds_now());
        const enum outcome outcome = sent == 0 ? wait_slice(connection, request, POLLOUT, moment_ns) : OUTCOME_DONE;
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
    return OUTCOME_DONE;
}

/* Receives at least one byte. */
static enum outcome receive_bytes(struct redis_connection *connection, struct request *request, size_t capacity,
                                  void *bytes, size_t *size)
{
    uint64_t moment_ns = 0;
    for (;;) {
        const CURLcode code = curl_easy_recv(connection->handle.easy, bytes, capacity, size);
        if (code == CURLE_OK && *size == 0)
            return request_fail(request, OUTCOME_UNREACHABLE, "the server closed the connection");
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return handle_explain(&connection->handle, code, request);
        /* A server that keeps sending a few bytes never stalls, so the deadline is checked here. */
        if (code == CURLE_OK)
            return nanoseconds_now() < request->deadline_ns ? OUTCOME_DONE
                                                            : request_fail(request, OUTCOME_TIMED_OUT, "timed out");
        if (moment_ns == 0)
            moment_ns = request_stall_moment(request, nanoseconds_now());
        const enum outcome outcome = wait_slice(connection, request, POLLIN, moment_ns);
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
}

/* ---- replies ---- */

enum outcome redis_reply_take(redisReader *reader, struct request *request, redisReply **reply)
{
    void *found = NULL;
    if (reader->pos == reader->len) /* otherwise, hiredis would set ridx to 0, as if a reply had begun */
        return OUTCOME_DONE;
    /* The reader's ridx is -1 between replies. The first byte of a reply shows if it is of a kind that the command does
     * not return. A list, for example, could claim any number of elements, for which hiredis would allocate memory. */
    const char first = reader->buf[reader->pos];
    if (reader->ridx == -1 && (first == '\0' || strchr(request->takes_list ? "$+-:*" : "$+-:", first) == NULL))
        return request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not one of Redis to this command");
    if (redisReaderGetReply(reader, &found) != REDIS_OK)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the answer is not one of Redis: %.100s", reader->errstr);
    *reply = found;
    return OUTCOME_DONE;
}

/* Receives a reply. Refuses bytes that follow it. */
static enum outcome receive_reply(struct redis_connection *connection, struct request *request, size_t max_size,
                                  redisReply **reply)
{
    const size_t limit = max_size > SIZE_MAX - LINE_SIZE ? SIZE_MAX : max_size + LINE_SIZE;
    enum outcome outcome = OUTCOME_DONE;
    size_t received = 0; /* hiredis forgets the bytes of elements that are complete */
    connection->element_count = 0;
    while (outcome == OUTCOME_DONE && *reply == NULL) {
        size_t size = 0;
        outcome = receive_bytes(connection, request, sizeof(connection->chunk), connection->chunk, &size);
        if (outcome == OUTCOME_DONE && redisReaderFeed(connection->reader, connection->chunk, size) != REDIS_OK)
            outcome = request_fail(request, OUTCOME_NO_MEMORY, "no memory for an answer");
        if (outcome == OUTCOME_DONE)
            outcome = redis_reply_take(connection->reader, request, reply);
        received += size;
        if (connection->element_count > MOST_ELEMENTS)
            outcome = request_fail(request, OUTCOME_TOO_LARGE, "the answer has more than %u elements", MOST_ELEMENTS);
        else if (outcome == OUTCOME_DONE && *reply == NULL && received > limit)
            outcome = request_fail(request, OUTCOME_TOO_LARGE, "the answer has more than %zu bytes", limit);
    }
    if (outcome != OUTCOME_DONE || connection->reader->len == connection->reader->pos)
        return outcome;
    freeReplyObject(*reply);
    *reply = NULL;
    return request_fail(request, OUTCOME_BAD_ANSWER, "the server sent more than one answer");
}

enum outcome redis_connection_ask(struct redis_connection *connection, struct request *request, size_t max_size,
                                  redisReply **reply, const char *format, va_list arguments)
{
    char *text = NULL;
    const int size = redisvFormatCommand(&text, format, arguments);
    if (size < 0)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for a command");
    enum outcome outcome = send_bytes(connection, request, (size_t)size, text);
    free(text);
    *reply = NULL;
    return outcome == OUTCOME_DONE ? receive_reply(connection, request, max_size, reply) : outcome;
}

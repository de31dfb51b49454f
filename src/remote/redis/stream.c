/*
 * stream.c - a connection through libcurl; see stream.h.
 *
 * libcurl keeps such a connection only while its easy handle is in the multi handle with which it connected. So each
 * stream has a multi handle of its own.
 */
#include "remote/redis/stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "remote/curl/library.h"
#include "util/nanoseconds.h"

#define ALERT " alert "

/* ---- connecting ---- */

/* Takes the text of an alert. A server that refuses this client says why by an alert after the handshake, and ends the
 * connection. libcurl may have written another text to the buffer for errors before, and writes only the first. */
static int on_text(CURL *easy, curl_infotype kind, char *text, size_t size, void *user)
{
    struct stream *stream = user;
    (void)easy;
    if (kind != CURLINFO_TEXT || memmem(text, size, ALERT, sizeof(ALERT) - 1) == NULL)
        return 0;
    if (text[size - 1] == '\n')
        --size;
    const size_t length = size < CURL_ERROR_SIZE ? size : CURL_ERROR_SIZE - 1;
    memcpy(stream->error, text, length);
    stream->error[length] = '\0';
    return 0;
}

static CURLcode set_stream_options(struct stream *stream, const struct stream_server *server,
                                   const struct request *request)
{
    CURL *easy = stream->easy;
    const struct {
        CURLoption option;
        const char *text;
    } texts[] = {
        {CURLOPT_URL, server->url},
        {CURLOPT_UNIX_SOCKET_PATH, server->socket_path[0] != '\0' ? server->socket_path : NULL},
        {CURLOPT_PROXY, ""}, /* the variables for proxies do not apply to Redis */
    };
    CURLcode code = library_apply(easy, request, &server->access, &stream->sockets, stream->error);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && code == CURLE_OK; ++i)
        code = curl_easy_setopt(easy, texts[i].option, texts[i].text);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_text);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_DEBUGDATA, stream);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L) : code;
}

static enum outcome wait_until_connected(struct stream *stream, struct request *request)
{
    const uint64_t moment_ns = request_connect_moment(request, nanoseconds_now());
    for (;;) {
        int running = 0;
        int left = 0;
        const bool can_go_on = curl_multi_perform(stream->multi, &running) == CURLM_OK;
        const CURLMsg *message = curl_multi_info_read(stream->multi, &left);
        const CURLcode code = message != NULL ? message->data.result : CURLE_OUT_OF_MEMORY;
        if (message != NULL || !can_go_on)
            return code == CURLE_OK ? OUTCOME_DONE : library_explain(stream->easy, code, stream->error, request);
        const uint64_t now_ns = nanoseconds_now();
        if (request_is_ended(request))
            return request_fail(request, OUTCOME_ENDED, "ended early");
        if (now_ns >= moment_ns)
            return request_fail(request, OUTCOME_TIMED_OUT, "connecting timed out");
        (void)curl_multi_poll(stream->multi, NULL, 0, request_slice_ms(now_ns, moment_ns), NULL);
    }
}

static enum outcome connect_to(struct stream *stream, const struct stream_server *server, struct request *request)
{
    const CURLcode code = set_stream_options(stream, server, request);
    if (code != CURLE_OK)
        return library_explain(stream->easy, code, "", request);
    if (curl_multi_add_handle(stream->multi, stream->easy) != CURLM_OK)
        return request_fail(request, OUTCOME_NO_MEMORY, "libcurl cannot begin to connect");
    const enum outcome outcome = wait_until_connected(stream, request);
    sockets_settle(&stream->sockets);
    if (outcome == OUTCOME_DONE)
        stream->error[0] = '\0'; /* what an address said that does not answer */
    if (outcome == OUTCOME_DONE && curl_easy_getinfo(stream->easy, CURLINFO_ACTIVESOCKET, &stream->socket) != CURLE_OK)
        return request_fail(request, OUTCOME_UNREACHABLE, "libcurl lost the connection");
    return outcome;
}

enum outcome stream_open(const struct stream_server *server, struct request *request, struct stream *stream)
{
    sockets_init(&stream->sockets);
    stream->multi = curl_multi_init();
    stream->easy = curl_easy_init();
    return stream->multi != NULL && stream->easy != NULL
               ? connect_to(stream, server, request)
               : request_fail(request, OUTCOME_NO_MEMORY, "no memory for a connection");
}

bool stream_close(struct stream *stream)
{
    if (!sockets_are_own(&stream->sockets)) {
        sockets_abandon(&stream->sockets);
        return false;
    }
    if (stream->multi != NULL && stream->easy != NULL)
        (void)curl_multi_remove_handle(stream->multi, stream->easy); /* closes the connection */
    curl_easy_cleanup(stream->easy);
    (void)curl_multi_cleanup(stream->multi);
    return true;
}

bool stream_is_idle(struct stream *stream)
{
    char byte;
    size_t size = 0;
    return sockets_are_own(&stream->sockets) && curl_easy_recv(stream->easy, &byte, 1, &size) == CURLE_AGAIN;
}

/* ---- bytes ---- */

/* Waits a little for the socket. The caller then tries again, whether the socket is ready or not, because TLS may have
 * to send before it can receive. */
static enum outcome stream_wait_slice(const struct stream *stream, struct request *request, short events,
                                      uint64_t moment_ns)
{
    struct pollfd polled = {.fd = stream->socket, .events = events};
    const uint64_t now_ns = nanoseconds_now();
    if (request_is_ended(request))
        return request_fail(request, OUTCOME_ENDED, "ended early");
    if (now_ns >= moment_ns)
        return request_fail(request, OUTCOME_TIMED_OUT, "timed out");
    if (poll(&polled, 1, request_slice_ms(now_ns, moment_ns)) < 0 && errno != EINTR)
        return request_fail(request, OUTCOME_UNREACHABLE, "poll: %s", strerror(errno));
    return OUTCOME_DONE;
}

enum outcome stream_send(struct stream *stream, struct request *request, size_t size, const void *bytes)
{
    const char *next = bytes;
    uint64_t moment_ns = 0; /* when the server will have stalled; 0: it accepts bytes */
    while (size != 0) {
        size_t sent = 0;
        const CURLcode code = curl_easy_send(stream->easy, next, size, &sent);
        if (code != CURLE_OK && code != CURLE_AGAIN) {
            char byte;
            (void)curl_easy_recv(stream->easy, &byte, 1, &sent); /* the server's reason may have arrived before */
            return library_explain(stream->easy, code, stream->error, request);
        }
        next += sent;
        size -= sent;
        if (sent != 0 || moment_ns == 0)
            moment_ns = request_stall_moment(request, nanoseconds_now());
        const enum outcome outcome = sent == 0 ? stream_wait_slice(stream, request, POLLOUT, moment_ns) : OUTCOME_DONE;
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
    return OUTCOME_DONE;
}

enum outcome stream_receive(struct stream *stream, struct request *request, size_t capacity, void *bytes, size_t *size)
{
    uint64_t moment_ns = 0;
    for (;;) {
        const CURLcode code = curl_easy_recv(stream->easy, bytes, capacity, size);
        if (code == CURLE_OK && *size == 0)
            return request_fail(request, OUTCOME_UNREACHABLE, "the server closed the connection");
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return library_explain(stream->easy, code, stream->error, request);
        /* A server that keeps sending a few bytes never stalls, so the deadline is checked here. */
        if (code == CURLE_OK)
            return nanoseconds_now() < request->deadline_ns ? OUTCOME_DONE
                                                            : request_fail(request, OUTCOME_TIMED_OUT, "timed out");
        if (moment_ns == 0)
            moment_ns = request_stall_moment(request, nanoseconds_now());
        const enum outcome outcome = stream_wait_slice(stream, request, POLLIN, moment_ns);
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
}

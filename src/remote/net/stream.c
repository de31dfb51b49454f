/*
 * stream.c - connects to a server, and sends and receives bytes; see stream.h.
 */
#include "remote/net/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "remote/base/clock.h"
#include "remote/net/wait.h"

void stream_close(struct stream *stream)
{
    if (stream->session != NULL)
        tls_end(stream->session);
    kept_file_end(&stream->kept);
}

static enum outcome connect_failed(struct request *request, int error)
{
    return request_fail(request, OUTCOME_UNREACHABLE, "connecting: %s", strerror(error));
}

static enum outcome connect_to(const struct address *address, struct request *request, uint64_t moment_ns, int *made)
{
    const int one = 1;
    const int fd = socket(address->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;
    socklen_t size = sizeof(error);
    enum outcome outcome = OUTCOME_DONE;
    if (fd < 0)
        return connect_failed(request, errno);
    /* EAGAIN, which means that the queue of a Unix socket is full, is a failure, too: the kernel would not report when
     * there is room again. */
    if (connect(fd, (const struct sockaddr *)&address->bytes, address->size) != 0) {
        if (errno != EINPROGRESS)
            outcome = connect_failed(request, errno);
        else
            outcome = wait_for_socket(request, fd, POLLOUT, moment_ns);
        if (outcome == OUTCOME_TIMED_OUT)
            (void)request_fail(request, outcome, "connecting timed out");
        if (outcome == OUTCOME_DONE && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0)
            outcome = connect_failed(request, error);
    }
    if (outcome != OUTCOME_DONE) {
        (void)close(fd);
        return outcome;
    }
    if (address->bytes.ss_family != AF_UNIX) /* both options are only improvements, so failures do not matter */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    *made = fd;
    return OUTCOME_DONE;
}

/* Connects to the first address that accepts. The first address may take half of the time, and the others equal parts
 * of the rest, because one that does not answer, such as an IPv6 address without a route, must not use up all of it. */
static enum outcome connect_to_any(const struct address_list *list, struct request *request, uint64_t moment_ns,
                                   int *made)
{
    enum outcome outcome = OUTCOME_UNREACHABLE;
    for (size_t i = 0; i < list->count; ++i) {
        const uint64_t now_ns = clock_now_ns();
        const uint64_t left_ns = now_ns < moment_ns ? moment_ns - now_ns : 0;
        const uint64_t parts = i == 0 && list->count > 1 ? 2 : list->count - i;
        outcome = connect_to(&list->items[i], request, now_ns + left_ns / parts, made);
        if (outcome != OUTCOME_UNREACHABLE && outcome != OUTCOME_TIMED_OUT)
            break;
    }
    return outcome;
}

enum outcome stream_open(struct address_book *book, const struct tls *tls, struct request *request,
                         struct stream *stream)
{
    struct address_list list;
    const uint64_t moment_ns = request_connect_moment(request, clock_now_ns());
    enum outcome outcome = address_book_get(book, request, moment_ns, &list);
    if (outcome != OUTCOME_DONE)
        return outcome;
    (void)request_fail(request, OUTCOME_UNREACHABLE, "the name %s has no address", book->host);
    outcome = connect_to_any(&list, request, moment_ns, &stream->socket);
    stream->session = NULL;
    if (outcome == OUTCOME_DONE && kept_file_begin(&stream->kept, stream->socket, KEPT_FILE_NO_MARK) < 0)
        outcome = request_fail(request, OUTCOME_UNREACHABLE, "examining the connection: %s", strerror(errno));
    const bool is_connected = outcome == OUTCOME_DONE;
    if (is_connected && tls != NULL)
        outcome = tls_begin(tls, request, stream->socket, moment_ns, &stream->session);
    if (outcome == OUTCOME_DONE)
        return outcome;
    if (is_connected)
        stream_close(stream);
    address_book_forget(book); /* the server may have another address now */
    return outcome;
}

bool stream_is_idle(const struct stream *stream)
{
    struct pollfd polled = {.fd = stream->socket, .events = POLLIN | POLLRDHUP};
    if (!kept_file_is_open(&stream->kept))
        return false;
    if (stream->session != NULL)
        return tls_is_idle(stream->session);
    return poll(&polled, 1, 0) == 0;
}

enum outcome stream_send(const struct stream *stream, struct request *request, size_t size, const void *bytes)
{
    const int socket = stream->socket;
    const char *next = bytes;
    if (stream->session != NULL)
        return tls_send(stream->session, socket, request, size, bytes);
    while (size != 0) {
        const ssize_t sent = send(socket, next, size, MSG_NOSIGNAL);
        if (sent > 0) {
            next += sent;
            size -= (size_t)sent;
            continue;
        }
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
            return request_fail(request, OUTCOME_UNREACHABLE, "sending: %s", strerror(errno));
        const enum outcome outcome =
            wait_for_socket(request, socket, POLLOUT, request_stall_moment(request, clock_now_ns()));
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
    return OUTCOME_DONE;
}

enum outcome stream_receive(const struct stream *stream, struct request *request, size_t capacity, void *bytes,
                            size_t *size)
{
    const int socket = stream->socket;
    if (stream->session != NULL)
        return tls_receive(stream->session, socket, request, capacity, bytes, size);
    for (;;) {
        const ssize_t received = recv(socket, bytes, capacity, 0);
        if (received > 0) {
            *size = (size_t)received;
            /* A server that keeps sending a few bytes never stalls, so the deadline is checked here. */
            return clock_now_ns() < request->deadline_ns ? OUTCOME_DONE
                                                         : request_fail(request, OUTCOME_TIMED_OUT, "timed out");
        }
        if (received == 0)
            return request_fail(request, OUTCOME_UNREACHABLE, "the server closed the connection");
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            return request_fail(request, OUTCOME_UNREACHABLE, "receiving: %s", strerror(errno));
        const enum outcome outcome =
            wait_for_socket(request, socket, POLLIN, request_stall_moment(request, clock_now_ns()));
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
}

/*
 * tls.c - encrypts a connection to a server; see tls.h.
 *
 * OpenSSL reads and writes through a BIO. Its own BIO for sockets raises SIGPIPE if the server has closed the
 * connection, so this file defines another one. Calls to OpenSSL never block. A call that cannot go on returns, and
 * wait_for_socket (wait.h) then waits, until a given moment at the latest.
 */
#include "remote/net/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/base/clock.h"
#include "remote/net/wait.h"

#define MOST_AT_ONCE (1u << 30) /* OpenSSL counts bytes in an int */

/* ---- the bytes ---- */

static int socket_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static int write_bytes(BIO *bio, const char *bytes, int size)
{
    ssize_t sent;
    do
        sent = send(socket_of(bio), bytes, (size_t)size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int read_bytes(BIO *bio, char *bytes, int capacity)
{
    ssize_t received;
    do
        received = recv(socket_of(bio), bytes, (size_t)capacity, 0);
    while (received < 0 && errno == EINTR);
    BIO_clear_retry_flags(bio);
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        BIO_set_retry_read(bio);
    return (int)received;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; /* a flush succeeds, because nothing is buffered */
}

static BIO_METHOD *make_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "Ingot's socket");
    if (method == NULL)
        return NULL;
    (void)BIO_meth_set_write(method, write_bytes);
    (void)BIO_meth_set_read(method, read_bytes);
    (void)BIO_meth_set_ctrl(method, control);
    return method;
}

/* ---- certificates ---- */

/* Provides no password. Without this function, OpenSSL would ask for a private key's password at the terminal. */
static int no_password(char *password, int capacity, int is_written, void *unused)
{
    (void)password;
    (void)capacity;
    (void)is_written;
    (void)unused;
    return -1;
}

static const char *reason_of_error(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason != NULL ? reason : "unknown error";
}

static ingot_status_t check_readable(const char *what, const char *path)
{
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0) /* checks the rights of the effective user, as open() does */
        return INGOT_SUCCESS;
    return ingot_set_error(errno == ENOENT ? INGOT_NOT_FOUND : INGOT_IO_ERROR, errno, "%s: opening %s: %s", what, path,
                           strerror(errno));
}

static ingot_status_t refuse_file(const char *what, const char *path)
{
    return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s: %s cannot be used (%s); name a file in PEM format",
                                  what, path, reason_of_error());
}

static ingot_status_t load_authorities(SSL_CTX *context, const char *path)
{
    static const char what[] = "the certificates of authorities";
    if (path[0] == '\0')
        return SSL_CTX_set_default_verify_paths(context) == 1
                   ? INGOT_SUCCESS
                   : ingot_set_error_detail(INGOT_IO_ERROR, "%s of the system cannot be used: %s", what,
                                            reason_of_error());
    const ingot_status_t status = check_readable(what, path);
    if (status != INGOT_SUCCESS)
        return status;
    return SSL_CTX_load_verify_file(context, path) == 1 ? INGOT_SUCCESS : refuse_file(what, path);
}

static ingot_status_t load_pair(SSL_CTX *context, const char *certificate, const char *key)
{
    ingot_status_t status = check_readable("the certificate", certificate);
    if (status == INGOT_SUCCESS && SSL_CTX_use_certificate_chain_file(context, certificate) != 1)
        status = refuse_file("the certificate", certificate);
    if (status == INGOT_SUCCESS && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        status = refuse_file("the private key", key);
    /* If the private key is for another algorithm than the certificate, OpenSSL reads it without comparing the two. So
     * this function compares them. */
    if (status == INGOT_SUCCESS && SSL_CTX_check_private_key(context) != 1)
        status = refuse_file("the private key", key);
    return status;
}

void tls_keep_in_exit(void)
{
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

ingot_status_t tls_init(struct tls *tls, const char *host, const struct tls_files *files)
{
    tls_keep_in_exit();
    ERR_clear_error();
    memcpy(tls->host, host, strlen(host) + 1);
    tls->context = SSL_CTX_new(TLS_client_method());
    tls->method = make_method();
    ingot_status_t status = INGOT_SUCCESS;
    if (tls->context == NULL || tls->method == NULL || SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1)
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "OpenSSL cannot be used: %s", reason_of_error());
    if (status == INGOT_SUCCESS) {
        SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_default_passwd_cb(tls->context, no_password);
        (void)SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        /* With SSL_MODE_AUTO_RETRY, a call could last forever if the server sent nothing but TLS's own messages. */
        (void)SSL_CTX_clear_mode(tls->context, SSL_MODE_AUTO_RETRY);
        status = load_authorities(tls->context, files->ca);
    }
    if (status == INGOT_SUCCESS && files->certificate[0] != '\0')
        status = load_pair(tls->context, files->certificate, files->key);
    ERR_clear_error();
    if (status != INGOT_SUCCESS)
        tls_fini(tls);
    return status;
}

void tls_fini(struct tls *tls)
{
    SSL_CTX_free(tls->context); /* both functions accept NULL */
    BIO_meth_free(tls->method);
    *tls = (struct tls){.context = NULL};
}

/* ---- sessions ---- */

static bool is_closed_by_server(int error)
{
    return error == SSL_ERROR_ZERO_RETURN || error == SSL_ERROR_SYSCALL ||
           (error == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

/* Returns the error of a failed call. A server that refuses this client sends a reason and closes the connection. So if
 * a write finds the connection closed, this function reads that reason first. */
static int look_for_reason(SSL *session, int error)
{
    char byte;
    if (error != SSL_ERROR_SYSCALL)
        return error;
    ERR_clear_error(); /* OpenSSL 3.2 and later note the failed write, which would hide the reason */
    const int result = SSL_peek(session, &byte, 1);
    return result < 1 && SSL_get_error(session, result) == SSL_ERROR_SSL ? SSL_ERROR_SSL : error;
}

/* Waits for the socket, and then checks the time: if the server keeps sending a little, the wait itself never times
 * out. */
static enum outcome wait_again(struct request *request, int socket, short events, uint64_t moment_ns)
{
    const enum outcome outcome = wait_for_socket(request, socket, events, moment_ns);
    if (outcome == OUTCOME_DONE && clock_now_ns() >= moment_ns)
        return request_fail(request, OUTCOME_TIMED_OUT, "timed out");
    return outcome;
}

/* Handles an OpenSSL call that returned less than 1. Returns OUTCOME_DONE if the call can be made again now. */
static enum outcome wait_or_explain(SSL *session, int socket, struct request *request, int result, uint64_t moment_ns)
{
    const int error = look_for_reason(session, SSL_get_error(session, result));
    const long verified = SSL_get_verify_result(session);
    if (error == SSL_ERROR_WANT_READ)
        return wait_again(request, socket, POLLIN, moment_ns);
    if (error == SSL_ERROR_WANT_WRITE)
        return wait_again(request, socket, POLLOUT, moment_ns);
    enum outcome outcome;
    if (verified != X509_V_OK)
        outcome = request_fail(request, OUTCOME_REFUSED, "the server's certificate is not accepted: %s",
                               X509_verify_cert_error_string(verified));
    else if (is_closed_by_server(error))
        outcome = request_fail(request, OUTCOME_UNREACHABLE, "the server closed the encrypted connection");
    else
        outcome = request_fail(request, OUTCOME_REFUSED, "encrypting the connection: %s", reason_of_error());
    ERR_clear_error();
    return outcome;
}

/* Sets the name that the server's certificate must have. */
static bool set_host(SSL *session, const char *host)
{
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1)
        return true;
    return SSL_set1_host(session, host) == 1 && SSL_set_tlsext_host_name(session, host) == 1;
}

static SSL *make_session(const struct tls *tls, int socket)
{
    SSL *session = SSL_new(tls->context);
    BIO *bio = session != NULL ? BIO_new(tls->method) : NULL;
    if (bio == NULL || !set_host(session, tls->host)) {
        (void)BIO_free(bio);
        SSL_free(session);
        return NULL;
    }
    BIO_set_data(bio, (void *)(intptr_t)socket);
    BIO_set_init(bio, 1);
    SSL_set_bio(session, bio, bio);
    return session;
}

enum outcome tls_begin(const struct tls *tls, struct request *request, int socket, uint64_t moment_ns, SSL **session)
{
    ERR_clear_error();
    SSL *made = make_session(tls, socket);
    ERR_clear_error();
    if (made == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for an encrypted connection");
    enum outcome outcome = OUTCOME_DONE;
    int result = 0;
    while (outcome == OUTCOME_DONE && (result = SSL_connect(made)) != 1)
        outcome = wait_or_explain(made, socket, request, result, moment_ns);
    if (outcome == OUTCOME_TIMED_OUT)
        (void)request_fail(request, outcome, "encrypting the connection timed out");
    if (outcome == OUTCOME_DONE)
        *session = made;
    else
        tls_end(made);
    return outcome;
}

void tls_end(SSL *session)
{
    SSL_free(session);
}

bool tls_is_idle(SSL *session)
{
    char byte;
    ERR_clear_error();
    const int result = SSL_peek(session, &byte, 1);
    const bool is_idle = result < 1 && SSL_get_error(session, result) == SSL_ERROR_WANT_READ;
    ERR_clear_error();
    return is_idle;
}

enum outcome tls_send(SSL *session, int socket, struct request *request, size_t size, const void *bytes)
{
    const char *next = bytes;
    ERR_clear_error();
    while (size != 0) {
        const int sent = SSL_write(session, next, (int)(size < MOST_AT_ONCE ? size : MOST_AT_ONCE));
        if (sent > 0) {
            next += sent;
            size -= (size_t)sent;
            continue;
        }
        const enum outcome outcome =
            wait_or_explain(session, socket, request, sent, request_stall_moment(request, clock_now_ns()));
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
    return OUTCOME_DONE;
}

enum outcome tls_receive(SSL *session, int socket, struct request *request, size_t capacity, void *bytes, size_t *size)
{
    ERR_clear_error();
    for (;;) {
        const int received = SSL_read(session, bytes, (int)(capacity < MOST_AT_ONCE ? capacity : MOST_AT_ONCE));
        if (received > 0) {
            *size = (size_t)received;
            return clock_now_ns() < request->deadline_ns ? OUTCOME_DONE
                                                         : request_fail(request, OUTCOME_TIMED_OUT, "timed out");
        }
        const enum outcome outcome =
            wait_or_explain(session, socket, request, received, request_stall_moment(request, clock_now_ns()));
        if (outcome != OUTCOME_DONE)
            return outcome;
    }
}

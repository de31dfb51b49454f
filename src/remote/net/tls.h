/*
 * tls.h - encrypts a connection to a server with OpenSSL, and refuses a server without a valid certificate for its
 * name.
 *
 * hiredis also supports TLS, but Ingot does not use this support: Debian 12 does not contain it, it does not compare
 * the certificate with the server's name, and it has no deadline.
 */
#ifndef INGOT_REMOTE_NET_TLS_H
#define INGOT_REMOTE_NET_TLS_H

#include <ingot/ingot.h>
#include <openssl/bio.h>
#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "remote/base/request.h"
#include "remote/net/address.h"

/* What all encrypted connections to one server share: certificates and settings. Any number of threads may use it. */
struct tls {
    SSL_CTX *context;
    BIO_METHOD *method;
    char host[ADDRESS_HOST_CAPACITY]; /* a name, or an address in digits */
};

struct tls_files {
    const char *ca;          /* a file with the certificates of the authorities to trust; "": the system's */
    const char *certificate; /* a file with this client's certificate; "": none */
    const char *key;         /* a file with this client's private key; "": none. The caller checks who can read it */
};

/* Makes OpenSSL keep its memory in exit(), because other threads may still use it then. This has no effect unless it
 * comes before every other use of OpenSSL in the process, including libcurl's. Any thread may call this function at any
 * time. */
void tls_keep_in_exit(void);

/* @retval INGOT_NOT_FOUND, INGOT_IO_ERROR, INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY */
ingot_status_t tls_init(struct tls *tls, const char *host, const struct tls_files *files);
void tls_fini(struct tls *tls);

/* Encrypts a connection and verifies the server. Gives up at `moment_ns`. The socket must outlive the session. */
enum outcome tls_begin(const struct tls *tls, struct request *request, int socket, uint64_t moment_ns, SSL **session);
void tls_end(SSL *session);
/* True if nothing but TLS's own messages has arrived on an idle connection. */
bool tls_is_idle(SSL *session);
/* Like stream_send and stream_receive. */
enum outcome tls_send(SSL *session, int socket, struct request *request, size_t size, const void *bytes);
enum outcome tls_receive(SSL *session, int socket, struct request *request, size_t capacity, void *bytes, size_t *size);

#endif

/*
 * curl.h - what all uses of libcurl share, grouped by file.
 */
#ifndef INGOT_REMOTE_CURL_CURL_H
#define INGOT_REMOTE_CURL_CURL_H

#include "remote/base/base.h"
#include "remote/settings/settings.h"
#include "util/kept_file.h"

#include <ingot/ingot.h>

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets an option of a libcurl handle, in a function that returns a CURLcode. Returns from it if libcurl refuses the
 * option. */
#define SET_OPTION(easy, option, value)                                                                                \
    do {                                                                                                               \
        const CURLcode set_code = curl_easy_setopt((easy), (option), (value));                                         \
        if (set_code != CURLE_OK)                                                                                      \
            return set_code;                                                                                           \
    } while (0)

/* ---- access.c: the credentials and certificates with which a client and a server authenticate each other. ---- */

struct access {
    struct url url;               /* with the files' paths */
    char secret[SECRET_CAPACITY]; /* a password, "user:password", a token, or "access key:secret key"; "": none */
    char provider[160];           /* for libcurl's option that signs requests to S3 */
};

/* Parses the URL, reads the credentials, and checks the files. The access, whose bytes are 0, must not move, and its
 * owner wipes the secret, also after a failure. Whether the files have what they should have, and key and certificate
 * belong together, connecting shows.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR */
ingot_status_t access_init(struct access *access, const char *url);
/* Sets the options of a libcurl handle that use the certificates. */
CURLcode access_apply_certificates(const struct access *access, CURL *easy);
/* Sets the options that authenticate the requests of HTTP. */
CURLcode access_apply(const struct access *access, CURL *easy);

/* ---- sockets.c: opens and closes the sockets of a libcurl handle, so that none is confused with a file of the
 * application (util/kept_file.h).
 *
 * libcurl keeps connections between requests. If the application has closed the socket of one, as daemons do when they
 * start, its number may belong to a file or connection of the application. libcurl would use and close that. So whoever
 * keeps a handle calls sockets_are_own before each use and before destroying it, and abandons the handle if not. */

#define SOCKETS_MOST 40u /* idle connections, and two attempts to connect for each parallel transfer */

/* The sockets that one multi handle has open. Only one thread at a time may use it. */
struct sockets {
    struct kept_file files[SOCKETS_MOST];
    bool is_connecting[SOCKETS_MOST]; /* libcurl 7.88 closes such a socket without a call of ours */
    struct sockets *next_abandoned;
};

void sockets_init(struct sockets *sockets);
/* Makes an easy handle open and close its sockets here. `sockets` must outlive its connections. */
CURLcode sockets_apply(struct sockets *sockets, CURL *easy);
/* Returns how many sockets are open. */
size_t sockets_count(const struct sockets *sockets);
/* Notes which sockets are connected, and which libcurl has closed while they were not. To be called after transfers,
 * and after connecting: what others close later is theirs. */
void sockets_settle(struct sockets *sockets);
/* Returns false if others have closed one of the sockets. */
bool sockets_are_own(struct sockets *sockets);
/* Gives up a handle some of whose descriptors may belong to the application now, including those that libcurl opens
 * without asking. The caller must not use or destroy the handle any more; its memory is never freed. */
void sockets_abandon(struct sockets *sockets);

/* ---- library.c: what all uses of libcurl share: its initialization, its handles, which are kept with their
 * connections, and its errors. */

/* Initializes libcurl once in the process.
 * @retval INGOT_UNIMPLEMENTED  libcurl is missing or too old, which only a library that opens it itself can find.
 * @retval INGOT_OUT_OF_MEMORY  libcurl cannot be used. */
ingot_status_t library_init(void);

/* A libcurl handle. Only one thread at a time may use it. libcurl keeps a connection only while its easy handle has the
 * multi handle with which it connected, so each has its own. */
struct handle {
    CURLM *multi;
    CURL *easy;
    struct sockets sockets; /* those of multi */
    char error[CURL_ERROR_SIZE];
    struct handle *next;    /* the next idle handle in the pool */
    uint64_t idle_since_ns; /* when it came to the pool; of CLOCK_BOOTTIME, which goes on while the machine sleeps */
};

/* Returns false if memory runs out; the caller ends the handle nevertheless. */
bool handle_init(struct handle *handle);
/* Ends the handle, or abandons it if the application has closed one of its descriptors. Then returns false, and the
 * memory of the handle must never be freed. */
bool handle_fini(struct handle *handle);
/* Sets the options that do not depend on the protocol. */
CURLcode handle_apply(struct handle *handle, const struct request *request, const struct access *access);
/* Runs the transfer until libcurl ends it, whose result is then *code, or until its time has run out: that of the
 * request for connecting, or, with progress_at_ns, the one after the moment when the transfer last went on. */
enum outcome handle_run(struct handle *handle, struct request *request, const uint64_t *progress_at_ns, CURLcode *code);
/* Returns the outcome of a failed call for a handle, and writes the request's error message. */
enum outcome handle_explain(struct handle *handle, CURLcode code, struct request *request);

/* Idle handles with connections to one server. Any number of threads may use a pool at once. */
struct pool {
    pthread_mutex_t lock;
    struct handle *idle; /* `lock` guards idle and idle_count */
    unsigned idle_count;
    void (*close)(struct handle *handle); /* ends a handle, and frees it */
};

void pool_init(struct pool *pool, void (*close)(struct handle *handle));
void pool_fini(struct pool *pool);
/* Takes the handle that came last, or returns NULL. */
struct handle *pool_take(struct pool *pool);
/* Closes the handle if the pool is full. */
void pool_give(struct pool *pool, struct handle *handle);
/* Closes all handles. */
void pool_empty(struct pool *pool);

#endif

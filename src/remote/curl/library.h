/*
 * library.h - what all uses of libcurl share: its initialization, its handles, which are kept with their connections,
 * and its errors.
 */
#ifndef INGOT_REMOTE_CURL_LIBRARY_H
#define INGOT_REMOTE_CURL_LIBRARY_H

#include <curl/curl.h>
#include <ingot/ingot.h>
#include <pthread.h>

#include "remote/base/request.h"
#include "remote/curl/access.h"
#include "remote/curl/sockets.h"

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
};

void pool_init(struct pool *pool);
/* Takes the handle that came last, or returns NULL. */
struct handle *pool_take(struct pool *pool);
/* Returns false if the pool is full. */
bool pool_give(struct pool *pool, struct handle *handle);

#endif

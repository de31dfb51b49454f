/*
 * address.h - looks up the addresses of a server and keeps them. A server is named by a host and a port, or by the path
 * of a Unix socket.
 *
 * A name service that does not answer must not hold up a request beyond its time limit, so a separate thread looks each
 * name up. The addresses are kept until connecting to the server fails.
 */
#ifndef INGOT_REMOTE_NET_ADDRESS_H
#define INGOT_REMOTE_NET_ADDRESS_H

#include <ingot/ingot.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "remote/base/request.h"

#define ADDRESS_MOST 8u /* the most addresses that are kept for a name */
#define ADDRESS_HOST_CAPACITY 256u
#define ADDRESS_PORT_CAPACITY 8u

struct address {
    socklen_t size;
    struct sockaddr_storage bytes;
};

struct address_list {
    size_t count;
    struct address items[ADDRESS_MOST];
};

struct address_book {
    char host[ADDRESS_HOST_CAPACITY]; /* host, port and is_unix are constant */
    char port[ADDRESS_PORT_CAPACITY];
    bool is_unix;
    pthread_mutex_t lock;
    struct address_list known; /* guarded by `lock` */
};

/* `host` and `port` must fit into the struct.
 * @retval INGOT_OUT_OF_MEMORY  The system has no resources for a mutex. */
ingot_status_t address_book_init(struct address_book *book, const char *host, const char *port);
/* @retval INGOT_INVALID_ARGUMENTS  The path is too long.
 * @retval INGOT_OUT_OF_MEMORY */
ingot_status_t address_book_init_unix(struct address_book *book, const char *path);
void address_book_fini(struct address_book *book);

/* Returns the known addresses. If there are none, looks the name up, and gives up at `moment_ns`. */
enum outcome address_book_get(struct address_book *book, struct request *request, uint64_t moment_ns,
                              struct address_list *list);
/* Forgets the addresses of a name, so that the next request looks them up again. */
void address_book_forget(struct address_book *book);

#endif

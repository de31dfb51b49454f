/*
 * sockets.c - opens and closes the sockets of a libcurl handle; see curl.h.
 */
#include "remote/curl/curl.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

/* Handles that were given up, so that leak checkers find them. Adding one (release) pairs with nothing. */
static _Atomic(struct sockets *) abandoned;

void sockets_init(struct sockets *sockets)
{
    for (size_t i = 0; i < SOCKETS_MOST; ++i)
        sockets->files[i] = (struct kept_file)KEPT_FILE_INIT;
    memset(sockets->is_connecting, 0, sizeof(sockets->is_connecting));
    sockets->next_abandoned = NULL;
}

void sockets_settle(struct sockets *sockets)
{
    struct sockaddr_storage peer;
    for (size_t i = 0; i < SOCKETS_MOST; ++i) {
        socklen_t size = sizeof(peer);
        if (sockets->files[i].fd < 0 || !sockets->is_connecting[i])
            continue;
        if (!kept_file_is_open(&sockets->files[i]))
            sockets->files[i].fd = -1;
        else
            sockets->is_connecting[i] = getpeername(sockets->files[i].fd, (struct sockaddr *)&peer, &size) != 0;
    }
}

/* Returns the entry of a descriptor, or the first free entry for -1. NULL: there is none. */
static struct kept_file *find_socket_file(struct sockets *sockets, int fd)
{
    for (size_t i = 0; i < SOCKETS_MOST; ++i)
        if (sockets->files[i].fd == fd)
            return &sockets->files[i];
    return NULL;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct sockets *sockets = user;
    sockets_settle(sockets);
    struct kept_file *file = find_socket_file(sockets, -1);
    (void)purpose;
    if (file == NULL)
        return CURL_SOCKET_BAD;
    sockets->is_connecting[file - sockets->files] = true;
    const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    return fd >= 0 && kept_file_begin(file, fd) == 0 ? fd : CURL_SOCKET_BAD;
}

static int close_socket(void *user, curl_socket_t fd)
{
    struct kept_file *file = find_socket_file(user, fd);
    if (file != NULL)
        kept_file_end(file);
    return 0;
}

CURLcode sockets_apply(struct sockets *sockets, CURL *easy)
{
    SET_OPTION(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET_OPTION(easy, CURLOPT_OPENSOCKETDATA, sockets);
    SET_OPTION(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets);
}

size_t sockets_count(const struct sockets *sockets)
{
    size_t count = 0;
    for (size_t i = 0; i < SOCKETS_MOST; ++i)
        count += sockets->files[i].fd >= 0;
    return count;
}

bool sockets_are_own(struct sockets *sockets)
{
    sockets_settle(sockets);
    for (size_t i = 0; i < SOCKETS_MOST; ++i)
        if (sockets->files[i].fd >= 0 && !kept_file_is_open(&sockets->files[i]))
            return false;
    return true;
}

void sockets_abandon(struct sockets *sockets)
{
    for (size_t i = 0; i < SOCKETS_MOST; ++i)
        kept_file_end(&sockets->files[i]);
    sockets->next_abandoned = atomic_load_explicit(&abandoned, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&abandoned, &sockets->next_abandoned, sockets, memory_order_release,
                                                  memory_order_relaxed)) {
    }
}

/*
 * address.c - looks up the addresses of a server and keeps them; see address.h.
 *
 * The C library cannot interrupt a look-up, which may take a minute. So each look-up runs in its own thread. If the
 * request gives up, the thread keeps running. The request or the thread, whichever finishes last, frees what both use.
 */
#include "remote/net/address.h"

#include <ingot/backend.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

#include "remote/base/clock.h"
#include "remote/base/thread.h"
#include "remote/net/wait.h"

struct look_up {
    char host[ADDRESS_HOST_CAPACITY]; /* host and port are constant */
    char port[ADDRESS_PORT_CAPACITY];
    pthread_mutex_t lock;
    pthread_cond_t is_done; /* uses the steady clock */
    unsigned references;    /* one for the request, one for the thread; `lock` guards all fields from here on */
    bool has_ended;
    int error;                  /* the result of getaddrinfo */
    struct addrinfo *addresses; /* valid if the look-up has ended without an error */
};

static void take_addresses(const struct addrinfo *found, struct address_list *list)
{
    list->count = 0;
    for (; found != NULL && list->count < ADDRESS_MOST; found = found->ai_next) {
        struct address *item = &list->items[list->count++];
        item->size = found->ai_addrlen;
        memcpy(&item->bytes, found->ai_addr, found->ai_addrlen);
    }
}

/* Converts a numeric address, without asking a name service. Returns false if the host is a name. */
static bool read_digits(const struct address_book *book, struct address_list *list)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(book->host, book->port, &hints, &found) != 0)
        return false;
    take_addresses(found, list);
    freeaddrinfo(found);
    return true;
}

static void drop_look_up(struct look_up *look_up)
{
    (void)pthread_mutex_lock(&look_up->lock);
    const bool is_last = --look_up->references == 0;
    (void)pthread_mutex_unlock(&look_up->lock);
    if (!is_last)
        return;
    if (look_up->addresses != NULL)
        freeaddrinfo(look_up->addresses);
    (void)pthread_cond_destroy(&look_up->is_done);
    (void)pthread_mutex_destroy(&look_up->lock);
    free(look_up);
}

static void *run_look_up(void *user)
{
    struct look_up *look_up = user;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses = NULL;
    const int error = getaddrinfo(look_up->host, look_up->port, &hints, &addresses);
    (void)pthread_mutex_lock(&look_up->lock);
    look_up->error = error;
    look_up->addresses = error == 0 ? addresses : NULL;
    look_up->has_ended = true;
    (void)pthread_cond_signal(&look_up->is_done);
    (void)pthread_mutex_unlock(&look_up->lock);
    drop_look_up(look_up);
    return NULL;
}

/* Starts a look-up with one reference for its thread and one for the request. Returns NULL if out of memory. */
static struct look_up *start_look_up(const struct address_book *book)
{
    pthread_t thread;
    struct look_up *look_up = calloc(1, sizeof(*look_up));
    if (look_up == NULL)
        return NULL;
    memcpy(look_up->host, book->host, sizeof(look_up->host));
    memcpy(look_up->port, book->port, sizeof(look_up->port));
    look_up->references = 2;
    if (pthread_mutex_init(&look_up->lock, NULL) != 0) {
        free(look_up);
        return NULL;
    }
    if (!thread_init_condition(&look_up->is_done)) {
        (void)pthread_mutex_destroy(&look_up->lock);
        free(look_up);
        return NULL;
    }
    if (!thread_start(&thread, run_look_up, look_up)) {
        look_up->references = 1;
        drop_look_up(look_up);
        return NULL;
    }
    (void)pthread_detach(thread);
    return look_up;
}

static enum outcome explain(const struct look_up *look_up, struct request *request)
{
    if (look_up->error == EAI_MEMORY)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for looking up the name %s", look_up->host);
    if (look_up->error != 0)
        return request_fail(request, OUTCOME_UNREACHABLE, "looking up the name %s: %s", look_up->host,
                            gai_strerror(look_up->error));
    return OUTCOME_DONE;
}

/* The caller holds the lock. */
static enum outcome wait_for_name(struct look_up *look_up, struct request *request, uint64_t moment_ns)
{
    while (!look_up->has_ended) {
        const uint64_t now_ns = clock_now_ns();
        if (request_is_ended(request))
            return request_fail(request, OUTCOME_ENDED, "ended early");
        if (now_ns >= moment_ns)
            return request_fail(request, OUTCOME_TIMED_OUT, "looking up the name %s timed out", look_up->host);
        thread_wait(&look_up->is_done, &look_up->lock,
                    now_ns + (uint64_t)wait_slice_ms(now_ns, moment_ns) * CLOCK_NS_PER_MS);
    }
    return explain(look_up, request);
}

static enum outcome look_up_name(const struct address_book *book, struct request *request, uint64_t moment_ns,
                                 struct address_list *list)
{
    struct look_up *look_up = start_look_up(book);
    if (look_up == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for looking up the name %s", book->host);
    (void)pthread_mutex_lock(&look_up->lock);
    const enum outcome outcome = wait_for_name(look_up, request, moment_ns);
    if (outcome == OUTCOME_DONE)
        take_addresses(look_up->addresses, list);
    (void)pthread_mutex_unlock(&look_up->lock);
    drop_look_up(look_up);
    return outcome;
}

static ingot_status_t init(struct address_book *book)
{
    if (pthread_mutex_init(&book->lock, NULL) != 0)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the lock of a server's addresses");
    return INGOT_SUCCESS;
}

ingot_status_t address_book_init(struct address_book *book, const char *host, const char *port)
{
    memset(book, 0, sizeof(*book));
    memcpy(book->host, host, strlen(host) + 1);
    memcpy(book->port, port, strlen(port) + 1);
    (void)read_digits(book, &book->known);
    return init(book);
}

ingot_status_t address_book_init_unix(struct address_book *book, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t size = strlen(path) + 1;
    memset(book, 0, sizeof(*book));
    if (size > sizeof(address.sun_path))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "the path of the Unix socket has %zu bytes, and the system allows %zu", size - 1,
                                      sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, size);
    book->is_unix = true;
    book->known.count = 1;
    book->known.items[0].size = sizeof(address);
    memcpy(&book->known.items[0].bytes, &address, sizeof(address));
    return init(book);
}

void address_book_fini(struct address_book *book)
{
    (void)pthread_mutex_destroy(&book->lock);
}

enum outcome address_book_get(struct address_book *book, struct request *request, uint64_t moment_ns,
                              struct address_list *list)
{
    (void)pthread_mutex_lock(&book->lock);
    *list = book->known;
    (void)pthread_mutex_unlock(&book->lock);
    if (list->count != 0)
        return OUTCOME_DONE;
    const enum outcome outcome = look_up_name(book, request, moment_ns, list);
    if (outcome == OUTCOME_DONE) {
        (void)pthread_mutex_lock(&book->lock);
        book->known = *list;
        (void)pthread_mutex_unlock(&book->lock);
    }
    return outcome;
}

void address_book_forget(struct address_book *book)
{
    struct address_list digits = {.count = 0};
    if (book->is_unix || read_digits(book, &digits))
        return;
    (void)pthread_mutex_lock(&book->lock);
    book->known.count = 0;
    (void)pthread_mutex_unlock(&book->lock);
}

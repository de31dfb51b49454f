/*
 * wishes.h - takes the wishes that `ingot build --watch` answers, from a directory store or from a server
 * (doc/builders.md). Each worker process takes its own.
 */
#ifndef INGOT_CLI_BUILD_WISHES_H
#define INGOT_CLI_BUILD_WISHES_H

#include <ingot/persist.h>
#include <stdbool.h>

enum { WISHES_REFUSED = 64 };

struct wishes {
    ingot_storage_t store;
    ingot_storage_t server;           /* NULL: the store's wishes are taken */
    int notice;                       /* tells of new wishes in a directory; -1: it is looked through all the time */
    uint64_t refused[WISHES_REFUSED]; /* hashes of the last wishes that were not for this machine */
    size_t refused_count;
    /* Prepares the answer to a wish. Returns false if this machine has none. */
    bool (*prepare)(void *user, size_t size, const uint8_t *id);
    /* Is told when the server fails, and when it works again. */
    void (*tell)(void *user, const char *text);
    void *user;
    bool has_failed;
};

/* Returns INGOT_UNIMPLEMENTED, with a detail, if the store or the server keeps no wishes. */
ingot_status_t wishes_open(struct wishes *wishes);
/* Takes a wish whose answer was prepared, and waits for one for at most a second. Returns false if there was none. */
bool wishes_take(struct wishes *wishes);

#endif

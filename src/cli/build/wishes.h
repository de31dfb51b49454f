/*
 * wishes.h - takes the wishes that `ingot build --watch` answers, from a directory store or from a server
 * (doc/builders.md). Each worker process takes its own.
 */
#ifndef INGOT_CLI_BUILD_WISHES_H
#define INGOT_CLI_BUILD_WISHES_H

#include <ingot/persist.h>
#include <stdbool.h>

enum { WISHES_REFUSED = 4096 };

/* A wish that is for another machine. */
struct refused_wish {
    uint64_t hash; /* 0: none */
    uint64_t first_ns;
    uint64_t last_ns;
};

struct wishes {
    ingot_storage_t store;
    ingot_storage_t server;       /* NULL: the store's wishes are taken */
    int notice;                   /* tells of new wishes in a directory; -1: it is looked through all the time */
    struct refused_wish *refused; /* the last WISHES_REFUSED */
    size_t refused_count;
    uint64_t pause_ns; /* how long a refused wish of a server is left alone */
    /* True if the id names a device of this machine. Calls no driver, because the wish is not taken yet. */
    bool (*is_ours)(void *user, size_t size, const uint8_t *id);
    /* Is told when wishes cannot be read or taken, and when that works again. */
    void (*tell)(void *user, const char *text);
    void *user;
    ingot_buffer_t taken; /* the wish that was taken last */
    bool has_failed;
};

/* Returns INGOT_UNIMPLEMENTED, with a detail, if the store or the server keeps no wishes. */
ingot_status_t wishes_open(struct wishes *wishes);
/* Takes a wish that is for this machine into `taken`, and waits some seconds for one at most. Returns false if there
 * was none. */
bool wishes_take(struct wishes *wishes);
/* Gives back the taken wish: it is for this machine's device, but for another driver or compiler. */
void wishes_refuse(struct wishes *wishes);

#endif

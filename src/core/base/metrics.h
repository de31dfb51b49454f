/*
 * metrics.h - counts what this process does, in a file of the directory that INGOT_METRICS_DIR names.
 *
 * Counts begin with the first source and are written at most once in ten seconds, by the request that notices the time,
 * and when the last source ends. A hit in memory counts nothing here: the counts of an in-memory cache are read when
 * the file is written.
 */
#ifndef INGOT_CORE_BASE_METRICS_H
#define INGOT_CORE_BASE_METRICS_H

#include <ingot/private/metrics.h>
#include <stdbool.h>

/* What keeps the counts on: a context or a cache. */
struct metrics_source {
    uint64_t (*count_hits)(void *user); /* returns the hits in memory so far; NULL: none. Must not call this file */
    void *user;
    const char *backend;
    uint64_t hits;         /* those that were added; the table's lock guards this and the rest */
    unsigned long process; /* the process in which it is listed; 0: it is not listed */
    struct metrics_source *next;
};

/* Lists a source, whose first three fields are set, if the environment names a directory. Returns false if it does
 * not. */
bool metrics_begin(struct metrics_source *source);
/* Ends a source. Does nothing for one that is not listed, or in a forked child. */
void metrics_end(struct metrics_source *source);
/* Counts an event about a program of a backend, except for hits. */
void metrics_count_event(const char *backend, const ingot_event_t *event);
/* True if there are sources. */
bool metrics_are_on(void);
/* Writes the file. */
void metrics_write(void);

#endif

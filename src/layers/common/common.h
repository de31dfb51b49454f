/*
 * common.h - what both layers share, grouped by file.
 */
#ifndef INGOT_LAYERS_COMMON_COMMON_H
#define INGOT_LAYERS_COMMON_COMMON_H

#include <ingot/ingot.h>
#include <ingot/persist.h>

#include <stdbool.h>
#include <stdint.h>

/* ---- settings.c: reads the user's settings, and opens the store that they name. ---- */

/* True if INGOT_LAYER_DISABLE turns the layer off, or if the process has more rights than its user. If the variable's
 * value is not a switch, the layer is on, but settings_open_store fails. */
bool settings_are_off(void);

/* Opens the user's store, if there is one. Must be called only once; the store stays open. If
 * INGOT_PERSIST_REMOTE names a server, puts that server behind the store. `on_event` gets the server's events, and
 * learns of everything that cannot be used. If there is no store, it gets `nothing_cached`: the
 * layer's name, and that it caches nothing. */
void settings_open_store(const char *nothing_cached, ingot_event_callback_t on_event);
/* Returns the store, or NULL if it is not open; the layer then caches nothing. */
ingot_storage_t settings_store(void);
/* True if nothing may be compiled (INGOT_ON_MISS=fail), also if there is no store. */
bool settings_must_not_compile(void);

/* ---- statistics.c: counts what the layer did, for `ingot run --stats`. ---- */

enum statistic {
    STATISTIC_PROGRAMS, /* made from source or intermediate language */
    STATISTIC_HITS,     /* builds that the store answered */
    STATISTIC_BUILDS,   /* builds that reached the compiler, except for those of STATISTIC_PASSED */
    STATISTIC_PASSED,   /* builds, compilations and links that the driver did as the application asked */
    STATISTIC_FAILED,   /* those of STATISTIC_PASSED that failed */
    STATISTIC_LEFT,     /* those of STATISTIC_PASSED that the store lacks and the driver's own cache serves */
    STATISTIC_BUILD_NS,
    STATISTIC_COUNT
};

/* If INGOT_LAYER_STATS names a file, prepares to write the counts to it. */
void statistics_init(void);
/* Counts a program as a hit if Ingot loaded it. */
void statistics_add_loaded(const_ingot_program_t program);
void statistics_add(enum statistic statistic, uint64_t amount);
/* Counts what the store has stored, refused and awaited since the last call. */
void statistics_add_store(void);

/* ---- trace.c: writes a layer's own events to the trace (INGOT_TRACE): which programs passed through and why, what the
 * layer builds for itself, and why there is no store. Ingot's contexts write their events to the same trace. */

/* Writes an event. The functions for storages' events call this one, too. */
void layer_trace(const ingot_event_t *event, void *unused);
/* Reports a program that passed through. `reason` may be ingot_last_error_detail(). */
void layer_trace_passed(ingot_status_t status, const char *reason);

#endif

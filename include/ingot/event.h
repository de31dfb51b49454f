/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file event.h
 * Events: what Ingot reports to an application's callback and to INGOT_TRACE.
 */
#ifndef INGOT_EVENT_H
#define INGOT_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/export.h>
#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of an event. Each kind defines what the event's status, bytes and duration_ns mean. */
typedef enum ingot_event_kind {
    INGOT_EVENT_HIT = 0,  /**< Found in memory. */
    INGOT_EVENT_MISS = 1, /**< Not in memory, so a builder runs next. */
    /** Waited duration_ns for another thread's build; status: the build's result. */
    INGOT_EVENT_WAIT = 2,
    INGOT_EVENT_BUILD = 3,         /**< Compiled; status, duration_ns. */
    INGOT_EVENT_LOAD = 4,          /**< Created from a blob: bytes, status (why a blob was rejected), duration_ns. */
    INGOT_EVENT_TAKE_BLOB = 5,     /**< Asked the driver for binaries: bytes, duration_ns, status. */
    INGOT_EVENT_EVICT = 6,         /**< Evicted from the in-memory cache: bytes; reason: the cause. */
    INGOT_EVENT_STORAGE_LOAD = 7,  /**< Asked a storage: status (INGOT_NOT_FOUND: a miss), bytes, duration_ns. */
    INGOT_EVENT_STORAGE_STORE = 8, /**< Passed a blob to a storage: status, bytes, duration_ns. */
    INGOT_EVENT_STORAGE_EVICT = 9, /**< A storage dropped entries to keep its limits: bytes, duration_ns. */
    INGOT_EVENT_STORAGE_DEGRADED = 10, /**< A storage could not do something and continued; see status and reason. */
    INGOT_EVENT_NATIVE_BUILD = 11, /**< Compiled as the application asked, with the files that the compiler found, so
                                      the program has no blob; reason: what Ingot could not replace or does not know. */
    INGOT_EVENT_ENVIRONMENT = 12, /**< name is an INGOT_* variable that Ingot does not know; reason: the nearest one. */
    INGOT_EVENT_PASSED_THROUGH = 13, /**< A layer passed the application's build on to the driver; reason: why. */
    INGOT_EVENT_NO_ID = 14, /**< The id of a program could not be made, so a storage was neither asked for the program
                              nor will it get it; status, reason. */
    /** A storage whose policy reports misses (ingot_persist_on_miss_t) has not what was requested; reason: how the
     * nearest entry differs, or why there is no id. */
    INGOT_EVENT_STORAGE_MISS = 15
} ingot_event_kind_t;

/** An event. Its pointers are never NULL, and valid only during the callback. */
typedef struct ingot_event {
    size_t struct_size;
    ingot_event_kind_t kind;
    ingot_status_t status;
    uint64_t duration_ns;
    size_t bytes;
    const char *group;   /**< The descriptor's group, or "". */
    const char *name;    /**< The first source's name, an entry's place in a storage, or "". */
    const char *reason;  /**< An explanation for people; "" if the kind needs none. */
    const char *session; /**< The session of an object cache's object; "" otherwise. */
} ingot_event_t;
#define INGOT_EVENT_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(ingot_event_t), INGOT_EVENT_HIT, INGOT_SUCCESS, 0, 0, "", "", "", ""                                    \
    }

/**
 * Receives events. Ingot calls it in the thread in which the event occurred, with no lock held. Several threads may
 * call it at once. It may call Ingot, except in ways that would cause the same event endlessly. It must not throw or
 * longjmp.
 */
typedef void (*ingot_event_callback_t)(const ingot_event_t *event, void *user);

#ifdef __cplusplus
}
#endif

#endif

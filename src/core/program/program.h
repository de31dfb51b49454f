/*
 * program.h - making programs, and telling of what happens to them.
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_H
#define INGOT_CORE_PROGRAM_PROGRAM_H

#include "core/program/program_body.h"

/* A program that is not in the cache. Takes native (or the reference to its owner) over in any case; names and log are
 * copied. */
struct program_parts {
    void *native;
    struct ingot_program *owner; /* as program_body's */
    size_t names_size;
    const char *names; /* ascending, each with its NUL */
    size_t log_size;
    const char *log;
    size_t device_bytes;
    bool is_from_blob;
    const char *native_reason; /* as program_body's */
};
ingot_status_t program_create(struct ingot_program **program, const struct ingot_program_desc *desc,
                              const struct program_parts *parts);

/* What the in-memory cache counts for it. SIZE_MAX: it is not to be kept. */
size_t program_count_bytes(const struct program_body *body);

/* Tells of an event of this descriptor's, to whoever wants to know. Cold: mostly nobody does. */
__attribute__((cold)) void program_emit(const struct ingot_program_desc *desc, ingot_event_kind_t kind,
                                        ingot_status_t status, uint64_t start_ns, size_t bytes, const char *reason);

#endif

/*
 * program.h - makes programs, and emits their events.
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_H
#define INGOT_CORE_PROGRAM_PROGRAM_H

#include "core/program/program_body.h"

/* The parts of a program that is not in the cache yet. The program owns native (or the reference to its owner) from
 * then on, even if making it fails; names and log are copied. */
struct program_parts {
    void *native;
    struct ingot_program *owner; /* as in program_body */
    size_t names_size;
    const char *names; /* ascending, each with its NUL */
    size_t log_size;
    const char *log;
    size_t device_bytes;
    bool is_from_blob;
    uint64_t build_ns;         /* as in program_body */
    const char *native_reason; /* as in program_body */
    size_t source_name_size;
    const char *source_name; /* as in program_body, without NUL */
};
ingot_status_t program_create(struct ingot_program **program, const struct ingot_program_desc *desc,
                              const struct program_parts *parts);

/* Does what ingot_program_create describes, if cache_recall_fast found no program. pending was set by that call. */
ingot_status_t program_request(struct ingot_program **program, const struct ingot_program_desc *desc,
                               struct cache_entry *pending);

/* Frees a kept blob. Does nothing if blob is NULL. */
void program_free_blob(struct kept_blob *blob, const ingot_allocator_t *allocator);

/* Returns how many bytes the program counts for in the in-memory cache, or SIZE_MAX if it must not be kept. */
size_t program_count_bytes(const struct program_body *body);

/* Emits an event about this descriptor. Marked cold, because most contexts have neither a callback nor a trace. */
__attribute__((cold)) void program_emit(const struct ingot_program_desc *desc, ingot_event_kind_t kind,
                                        ingot_status_t status, uint64_t start_ns, size_t bytes, const char *reason);

#endif

/*
 * program.h - creates programs that are not in the cache yet, and emits events about programs.
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_H
#define INGOT_CORE_PROGRAM_PROGRAM_H

#include "core/program/program_body.h"

/* The parts from which program_create makes a program. program_create takes over `native`, even if it fails, and copies
 * the texts. */
struct program_parts {
    void *native;
    size_t names_size;
    const char *names; /* sorted, each followed by a NUL */
    size_t log_size;
    const char *log;
    size_t device_bytes;
    bool is_from_blob;
    uint64_t build_ns;         /* as in program_body */
    const char *native_reason; /* as in program_body */
};
ingot_status_t program_create(struct ingot_program **program, const struct ingot_program_desc *desc,
                              const struct program_parts *parts);

/* Does the rest of ingot_program_get after cache_memo_lookup_fast has returned NULL. `pending` is the entry that
 * cache_memo_lookup_fast has set, or NULL. */
ingot_status_t program_request(struct ingot_program **program, const struct ingot_program_desc *desc,
                               struct cache_entry *pending);

/* Frees a kept blob. Does nothing if blob is NULL. */
void program_free_blob(struct kept_blob *blob, const ingot_allocator_t *allocator);

/* Returns how many bytes the in-memory cache counts for the program. */
size_t program_count_bytes(const struct program_body *body);

/* Emits an event about this descriptor's program. Marked cold, because most contexts have neither a callback nor a
 * trace. */
__attribute__((cold)) void program_emit(const struct ingot_program_desc *desc, ingot_event_kind_t kind,
                                        ingot_status_t status, uint64_t start_ns, size_t bytes, const char *reason);

#endif

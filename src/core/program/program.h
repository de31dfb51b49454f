/*
 * program.h - requests programs, and emits events about programs.
 */
#ifndef INGOT_CORE_PROGRAM_PROGRAM_H
#define INGOT_CORE_PROGRAM_PROGRAM_H

#include "core/program/program_body.h"

/* Frees the kernels of a program (kernel.c). */
void program_destroy_kernels(struct program_body *body);

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

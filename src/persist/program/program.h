/*
 * program.h - requests for programs that are in no in-memory cache.
 */
#ifndef INGOT_PERSIST_PROGRAM_PROGRAM_H
#define INGOT_PERSIST_PROGRAM_PROGRAM_H

#include <ingot/persist.h>

/* Does what ingot_persist_program_create does for a program that nobody else gets. If the storage has it, loads only
 * the native program, which the caller destroys, to *native. Otherwise sets *program. Threads that request the same
 * program wait for each other. */
ingot_status_t persist_program_get(void **native, ingot_program_t *program, const_ingot_program_desc_t desc,
                                   ingot_storage_t storage, ingot_origin_t *origin);

#endif

/*
 * program.h - requests for programs that are in no in-memory cache.
 */
#ifndef INGOT_PERSIST_PROGRAM_PROGRAM_H
#define INGOT_PERSIST_PROGRAM_PROGRAM_H

#include <ingot/persist.h>

/* What happens to a program that the storage lacks. */
enum program_miss {
    PROGRAM_WAIT, /* it is compiled, or awaited from whoever compiles it */
    PROGRAM_TRY,  /* it is compiled, but if anyone else does that, or has found that it fails, INGOT_BUSY at once */
    PROGRAM_WISH  /* a wish is left for it, and INGOT_BUSY returned; if it cannot be wished for, as PROGRAM_WAIT */
};

/* Does what ingot_persist_program_create does for a program that nobody else gets. If the storage has it, loads only
 * the native program, which the caller destroys, to *native. Otherwise sets *program. Threads that request the same
 * program wait for each other. */
ingot_status_t persist_program_get(void **native, ingot_program_t *program, const_ingot_program_desc_t desc,
                                   ingot_storage_t storage, enum program_miss miss, ingot_origin_t *origin);

/* Returns INGOT_SUCCESS if the storage has the descriptor's program, and otherwise the status of wish_leave. */
ingot_status_t persist_program_begin(const_ingot_program_desc_t desc, ingot_storage_t storage);

#endif

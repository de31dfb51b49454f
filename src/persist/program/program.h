/*
 * program.h - creates programs through a storage.
 */
#ifndef INGOT_PERSIST_PROGRAM_PROGRAM_H
#define INGOT_PERSIST_PROGRAM_PROGRAM_H

#include <ingot/persist.h>

/* Does what ingot_persist_program_create does for a program that is not in memory, but never loads its blob: it removes
 * the blob from the storage, compiles the program, and stores a new blob. The caller has checked the arguments. */
ingot_status_t program_replace(ingot_storage_t storage, ingot_program_t *program, const_ingot_program_desc_t desc,
                               ingot_origin_t *origin);

#endif

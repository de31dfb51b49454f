/*
 * program.h - programs through a storage.
 */
#ifndef INGOT_PERSIST_PROGRAM_PROGRAM_H
#define INGOT_PERSIST_PROGRAM_PROGRAM_H

#include <ingot/persist.h>

/* As ingot_persist_program_create, but for a program that is not in memory, which is compiled and replaces what the
 * storage has. Arguments are checked. */
ingot_status_t program_replace(ingot_storage_t storage, ingot_program_t *program, const_ingot_program_desc_t desc,
                               ingot_origin_t *origin);

#endif

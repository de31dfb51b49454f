/*
 * record.h - records the requests for programs in stores.
 */
#ifndef INGOT_PERSIST_REQUEST_RECORD_H
#define INGOT_PERSIST_REQUEST_RECORD_H

#include <ingot/persist.h>

/* Makes a new directory store record as `info` says: in itself, in the store of record_path, in both or not at all. If
 * that store cannot be opened, an event reports that. */
void record_begin(ingot_storage_t storage, const ingot_persist_info_t *info);

/* Stores the request of a program in a storage that is not a chain, unless it has the request. name_space: where its
 * results are wanted. program: for the build time; NULL: unknown. */
ingot_status_t record_request_in(ingot_storage_t store, const char *name_space, const_ingot_program_desc_t desc,
                                 const_ingot_program_t program);

#endif

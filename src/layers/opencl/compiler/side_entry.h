/*
 * side_entry.h - entries of the store that the layer keeps beside a program's: what the compiler said about a program
 * that it refused, and the driver's whole binaries. doc/layer.md has their bytes.
 *
 * They are artifacts (ingot/artifact.h), whose key has the program's id as its only field, "program".
 */
#ifndef INGOT_LAYERS_OPENCL_COMPILER_SIDE_ENTRY_H
#define INGOT_LAYERS_OPENCL_COMPILER_SIDE_ENTRY_H

#include <ingot/artifact.h>

/* Loads the entry of this kind, or fails. The caller releases the value. */
ingot_status_t side_entry_load(ingot_storage_t store, const char *kind, const_ingot_program_desc_t desc,
                               ingot_buffer_t *value);
/* Stores the entry, or does nothing if the store does not take it. */
void side_entry_store(ingot_storage_t store, const char *kind, const_ingot_program_desc_t desc,
                      const ingot_artifact_info_t *info, size_t size, const void *bytes);
/* Removes the entry, if there is one. */
void side_entry_remove(ingot_storage_t store, const char *kind, const_ingot_program_desc_t desc);

#endif

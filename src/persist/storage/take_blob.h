/*
 * take_blob.h - gets a program's blob from the driver and stores it.
 */
#ifndef INGOT_PERSIST_STORAGE_TAKE_BLOB_H
#define INGOT_PERSIST_STORAGE_TAKE_BLOB_H

#include <ingot/storage.h>

/* The result of storing one program. */
struct storage_outcome {
    ingot_status_t status;
    uint64_t take_ns; /* time that the driver took to provide the blob */
    size_t bytes;     /* size of the blob; 0: the driver did not provide one */
};

/* Gets a program's blob from the driver and stores it. Reports the result to the context. */
struct storage_outcome storage_take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                              ingot_program_t program, size_t id_size, const uint8_t *id);

#endif

/*
 * take_blob.h - takes a program's blob and stores it.
 */
#ifndef INGOT_PERSIST_STORAGE_TAKE_BLOB_H
#define INGOT_PERSIST_STORAGE_TAKE_BLOB_H

#include <ingot/storage.h>

/* The result of storing one program. */
struct storage_outcome {
    ingot_status_t status;
    uint64_t take_ns; /* time that the driver took */
    size_t bytes;     /* of the blob; 0: the driver provided none */
};

/* Takes a program's blob and stores it. */
struct storage_outcome storage_take_and_store(ingot_storage_t storage, const struct ingot_context *context,
                                              ingot_program_t program, size_t id_size, const uint8_t *id);

#endif

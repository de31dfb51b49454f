/*
 * device_identity.h - makes the identity of a device, its driver and its compiler: a list of fields, and their digest.
 *
 * Devices with equal identities share binaries. Fields are kept in the order in which the backend added them.
 */
#ifndef INGOT_CORE_IDENTITY_DEVICE_IDENTITY_H
#define INGOT_CORE_IDENTITY_DEVICE_IDENTITY_H

#include <ingot/private/backend.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/memo/header_memo.h"

struct device_identity {
    size_t size;
    uint8_t *bytes; /* for each field, its name and its value, each preceded by its length */
    uint8_t digest[DIGEST_SIZE];
    size_t files_size;
    uint8_t *files; /* the states of the files that it was made from (witness_put_file) */
    size_t variables_size;
    uint8_t *variables; /* the variables that it was made from (identity_watch.c) */
};

/* An identity to which a backend is adding fields. */
struct ingot_identity {
    struct bytes_writer fields;
    struct ingot_header_memo *memo; /* NULL if there is none */
    struct bytes_writer files;      /* as in device_identity, and so are the variables */
    struct bytes_writer variables;
};

/* Makes a device's identity. The memo, which may be NULL, remembers digests of libraries without a build-id. */
ingot_status_t device_identity_create(struct device_identity **identity, const ingot_allocator_t *allocator,
                                      struct ingot_header_memo *memo, const ingot_backend_ops_t *ops, void *state,
                                      uint32_t device);
/* identity_watch.c: returns what has changed since the identity was made, as a clause (a static string), or NULL if
 * nothing has. */
const char *device_identity_change(const struct device_identity *identity, const ingot_allocator_t *allocator);
void device_identity_destroy(struct device_identity *identity, const ingot_allocator_t *allocator);

/* content_hash.c: hashes a file of a compiler: a library without a build-id, a device library, a header or a setting.
 *
 * Some compilers have hundreds of megabytes of such files, and each process that makes an id needs their hashes. So
 * they are hashed with XXH3, not BLAKE2b, and the memo remembers the hash of each file that is not small, with the
 * state of the file, by the rules for headers (header_memo.h). Like a build-id, the hash tells versions apart. It need
 * not resist forgery, because anyone who can forge these files can also replace the compiler. */
enum { CONTENT_HASH_TEXT = 33 };

/* Writes a file's hash as 32 hexadecimal digits, the high 64 bits first. Reads the file unless the memo, which may be
 * NULL, has its hash and the file is unchanged. Returns the statuses of os_hash_file or INGOT_OUT_OF_MEMORY. */
ingot_status_t content_hash_of(struct ingot_header_memo *memo, const ingot_allocator_t *allocator, const char *path,
                               char text[CONTENT_HASH_TEXT]);

#endif

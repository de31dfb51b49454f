/*
 * request.h - writes, reads and visits the one serialization of a build request: all that a compiler gets.
 *
 * Ids contain a request in which digests stand for the texts; request entries hold the same request with its texts.
 * doc/request-format.md specifies every byte. A request may come from anywhere, so a reader trusts nothing in it.
 */
#ifndef INGOT_CORE_DESCRIPTOR_REQUEST_H
#define INGOT_CORE_DESCRIPTOR_REQUEST_H

#include <ingot/backend.h>
#include <ingot/private/descriptor.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"

enum request_form { REQUEST_OF_DIGESTS, REQUEST_OF_TEXTS };

struct request {
    enum request_form form; /* says whether the views in `build` have texts, or digests of texts */
    ingot_build_request_t build;
    bool names_matter; /* true if the names of sources affect the result, so that they are part of the digest */
    size_t files_size; /* the included files (hermetic.h), for people; only in a request with texts */
    const uint8_t *files;
    const uint8_t *directory; /* digest of the current directory's path if the result has it, otherwise NULL */
};

/* Appends a request in either form. A request of digests cannot be written with texts. */
void request_write(struct bytes_writer *out, enum request_form form, const struct request *request);
/* Computes the digest that stands for the request in ids. Returns false if out of memory. */
bool request_digest(const struct request *request, const ingot_allocator_t *allocator, uint8_t digest[DIGEST_SIZE]);

/* Reads a request of the given form, which must end with the bytes. Its strings and arrays are in the arena, its texts
 * and digests in `bytes`. Returns INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT or INGOT_OUT_OF_MEMORY. */
ingot_status_t request_read(struct request *request, enum request_form form, struct arena *arena, size_t size,
                            const uint8_t *bytes);
/* Visits the fields in order, each with its path, such as "source[0].kind". */
void request_visit(const struct request *request, ingot_cache_blob_id_visit_t visit, void *user);

/* Appends what precedes a request that is kept by itself: magic, version, and the backend that builds it. */
void request_write_head(struct bytes_writer *out, const char *backend);
/* Reads a request that is kept by itself. */
ingot_status_t request_read_whole(struct request *request, const char **backend, struct arena *arena, size_t size,
                                  const uint8_t *bytes);

#endif

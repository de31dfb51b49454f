/*
 * kept_request.h - packs requests into the artifacts that stores keep; see doc/request-format.md.
 *
 * ingot/private/request.h has the functions that read them.
 */
#ifndef INGOT_PERSIST_REQUEST_KEPT_REQUEST_H
#define INGOT_PERSIST_REQUEST_KEPT_REQUEST_H

#include <ingot/private/request.h>
#include <stdbool.h>

#define KEPT_REQUEST_MAX_ID_SIZE 512u

/* The id of a kept request. */
struct kept_request_id {
    size_t size;
    uint8_t bytes[KEPT_REQUEST_MAX_ID_SIZE];
};

ingot_status_t kept_request_make_id(struct kept_request_id *id, const char *backend,
                                    const uint8_t digest[INGOT_REQUEST_DIGEST_SIZE]);

/* Makes the blob that a store keeps under the id, and stores the texts that it lacks there. facts: the texts and the
 * build time are used, NULL stands for "". Returns INGOT_NO_SPACE if the request is larger than the format allows, or
 * the status of ingot_storage_store. */
ingot_status_t kept_request_pack(const struct kept_request_id *id, const ingot_kept_request_t *facts,
                                 const ingot_buffer_t *request, ingot_storage_t store, ingot_buffer_t *blob);
/* True if the store has the request with all its texts. This notes that they are used. */
bool kept_request_is_in(ingot_storage_t store, const struct kept_request_id *id);

#endif

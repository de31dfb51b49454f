/*
 * wish.c - asks builders for a program that a storage lacks; see wish.h and doc/builders.md.
 *
 * The request comes first, so that whoever finds the wish finds the request.
 */
#include "persist/request/wish.h"

#include <ingot/backend.h>
#include <ingot/private/wish.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/request/kept_request.h"
#include "persist/request/record.h"
#include "persist/storage/events.h"
#include "persist/storage/storage.h"
#include "persist/storage/turns/build_turn.h"

/* What builders need to know of a program. */
struct wanted {
    const_ingot_program_desc_t desc;
    size_t id_size;
    const uint8_t *id;
};

static ingot_status_t leave_in(ingot_storage_t tier, const struct wanted *wanted)
{
    char reason[512];
    const uint64_t started_ns = files_steady_clock_ns();
    /* An application may begin many programs at once. If there is a wish, somebody has stored its request. */
    ingot_status_t status = storage_look_wish(tier, wanted->id_size, wanted->id);
    if (status == INGOT_SUCCESS)
        status = record_request_in(tier, storage_name_space(tier), wanted->desc, NULL);
    if (status == INGOT_SUCCESS)
        status = storage_leave_wish(tier, wanted->id_size, wanted->id);
    if (status == INGOT_SUCCESS)
        return ingot_set_error_detail(INGOT_BUSY, "the program is not there yet, and is wished for");
    if (status != INGOT_BUSY && status != INGOT_BUILD_FAILED && status != INGOT_NOT_CACHEABLE) {
        (void)snprintf(reason, sizeof(reason), "a wish for a program is not left: %s", ingot_last_error_detail());
        storage_tell(tier, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, reason);
    }
    return status;
}

/* Returns INGOT_BUSY if a tier has the wish, and otherwise the status of the first tier that keeps wishes. */
static ingot_status_t leave_in_tiers(ingot_storage_t storage, const struct wanted *wanted)
{
    ingot_status_t found = INGOT_NOT_FOUND;
    if (storage_takes_wishes(storage))
        return leave_in(storage, wanted);
    for (size_t i = 0; storage_tier(storage, i) != NULL; ++i) {
        const ingot_status_t status = leave_in_tiers(storage_tier(storage, i), wanted);
        if (status == INGOT_BUSY || found == INGOT_NOT_FOUND)
            found = status;
    }
    return found;
}

ingot_status_t wish_leave(ingot_storage_t storage, const_ingot_program_desc_t desc)
{
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    struct wanted wanted = {.desc = desc};
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &wanted.id_size, &wanted.id);
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_get_info(desc, &info);
    if (status != INGOT_SUCCESS)
        return status;
    if (info.device_count != 1)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "builders compile for one device, and this program has %zu",
                                      info.device_count);
    if (wanted.id_size > INGOT_WISH_MAX_SIZE)
        return ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the program's id has %zu bytes, more than a wish",
                                      wanted.id_size);
    status = leave_in_tiers(storage, &wanted);
    if (status == INGOT_BUSY)
        build_turn_note_wish(storage, wanted.id_size, wanted.id);
    return status == INGOT_NOT_FOUND ? ingot_set_error_detail(status, "no store that can be written keeps wishes")
                                     : status;
}

static void take_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    ingot_kept_request_t *request = user;
    (void)is_text;
    if (strcmp(path, "backend") == 0 && size < sizeof(request->backend))
        memcpy(request->backend, value, size);
    else if (strcmp(path, "request.blake2b") == 0 && size == sizeof(request->digest))
        memcpy(request->digest, value, size);
}

ingot_status_t ingot_wish_get_request_id(size_t id_size, const uint8_t *id, size_t *request_id_size,
                                         uint8_t *request_id)
{
    ingot_kept_request_t request = {.backend = ""};
    struct kept_request_id made;
    if (id == NULL || request_id_size == NULL || request_id == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "an argument is NULL");
    ingot_status_t status = ingot_cache_blob_id_visit(id_size, id, take_field, &request);
    if (status == INGOT_SUCCESS && request.backend[0] == '\0')
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "these bytes are not the id of a program");
    if (status == INGOT_SUCCESS)
        status = kept_request_make_id(&made, request.backend, request.digest);
    if (status != INGOT_SUCCESS)
        return status;
    if (made.size > *request_id_size)
        return ingot_set_error_detail(INGOT_BUFFER_TOO_SMALL, "the id has %zu bytes", made.size);
    *request_id_size = made.size;
    memcpy(request_id, made.bytes, made.size);
    return INGOT_SUCCESS;
}

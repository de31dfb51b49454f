/*
 * record.c - records the requests for programs in stores, and asks builders for programs; see record.h and
 * doc/builders.md.
 *
 * A request that a store has is only looked up, which also notes that it is still used. Nothing of a storage's
 * recording changes after the storage was opened, so it needs no lock.
 */
#include "persist/request/record.h"

#include <ingot/private/program.h>
#include <ingot/private/request.h>
#include <ingot/private/wish.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/request/kept_request.h"
#include "persist/storage/kinds.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"

/* WHICH_OWN: the storage itself, without a reference. WHICH_OTHER: the store of record_path. */
enum which { WHICH_OWN, WHICH_OTHER, WHICH_COUNT };

struct recording {
    ingot_storage_t storage;             /* whose recording it is; no reference */
    ingot_storage_t stores[WHICH_COUNT]; /* NULL: nothing is recorded there */
    _Atomic uint64_t told[WHICH_COUNT];  /* a bit for each status that was reported; relaxed */
};

static void tell(struct recording *recording, enum which which, ingot_status_t status, uint64_t started_ns,
                 const char *what)
{
    char reason[512];
    const uint64_t bit = (uint64_t)1 << ((unsigned)status % 64);
    if ((atomic_fetch_or_explicit(&recording->told[which], bit, memory_order_relaxed) & bit) != 0)
        return;
    (void)snprintf(reason, sizeof(reason), "%s: %s", what, ingot_last_error_detail());
    storage_tell(recording->storage, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, "", reason);
}

/* ---- what people want to know of a request ---- */

struct wanted {
    char name[1024]; /* of the first source, without directories */
    char device[128];
    char driver[128];
};

static void copy_text(char *text, size_t capacity, size_t size, const uint8_t *value)
{
    (void)snprintf(text, capacity, "%.*s", (int)(size < capacity ? size : capacity - 1), (const char *)value);
}

static void take_name(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct wanted *wanted = user;
    (void)is_text;
    if (strcmp(path, "source[0].name") != 0)
        return;
    const uint8_t *slash = memrchr(value, '/', size);
    const uint8_t *name = slash != NULL ? slash + 1 : value;
    copy_text(wanted->name, sizeof(wanted->name), size - (size_t)(name - value), name);
}

static void take_device(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct wanted *wanted = user;
    if (is_text && strcmp(path, "device[0].device_name") == 0)
        copy_text(wanted->device, sizeof(wanted->device), size, value);
    else if (is_text && strcmp(path, "device[0].driver_version") == 0)
        copy_text(wanted->driver, sizeof(wanted->driver), size, value);
}

/* Makes the blob of a request, with what people want to know of it. */
static ingot_status_t make_blob(const char *name_space, ingot_storage_t store, const struct kept_request_id *id,
                                const_ingot_program_desc_t desc, const_ingot_program_t program, ingot_buffer_t *blob)
{
    char of_device[300];
    struct wanted wanted = {"", "", ""};
    ingot_kept_request_t known = {.name = wanted.name, .name_space = name_space, .device = of_device};
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    ingot_buffer_t request = INGOT_BUFFER_INIT;
    const uint8_t *result_id = NULL;
    size_t result_id_size = 0;
    ingot_status_t status = ingot_program_desc_get_request(desc, &request);
    if (status != INGOT_SUCCESS)
        return status;
    (void)ingot_request_visit(request.size, request.bytes, take_name, &wanted);
    if (ingot_program_desc_get_info(desc, &info) == INGOT_SUCCESS)
        known.group = info.group;
    if (ingot_program_desc_get_cache_blob_id(desc, &result_id_size, &result_id) == INGOT_SUCCESS)
        (void)ingot_cache_blob_id_visit(result_id_size, result_id, take_device, &wanted);
    (void)snprintf(of_device, sizeof(of_device), "%s%s%s", wanted.device,
                   wanted.device[0] != '\0' && wanted.driver[0] != '\0' ? ", driver " : "", wanted.driver);
    if (program != NULL && ingot_program_get_facts(program, &facts) == INGOT_SUCCESS)
        known.build_time_ms = (facts.build_time_ns + NS_PER_MS - 1) / NS_PER_MS;
    status = kept_request_pack(id, &known, &request, store, blob);
    memory_release_buffer(&request);
    return status;
}

/* ---- recording ---- */

/* Stores the request of a program in a storage that is not a chain, unless it has the request. name_space: where its
 * results are wanted. program: for the build time; NULL: unknown. */
static ingot_status_t record_request_in(ingot_storage_t store, const char *name_space, const_ingot_program_desc_t desc,
                                        const_ingot_program_t program)
{
    uint8_t digest[INGOT_REQUEST_DIGEST_SIZE];
    struct kept_request_id id;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = ingot_program_desc_get_request_digest(desc, digest);
    if (status == INGOT_SUCCESS)
        status =
            kept_request_make_id(&id, ingot_context_get_backend_name(ingot_program_desc_get_context(desc)), digest);
    if (status != INGOT_SUCCESS || kept_request_is_in(store, &id))
        return status;
    status = make_blob(name_space, store, &id, desc, program, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_store(store, id.size, id.bytes, blob.size, blob.bytes);
    memory_release_buffer(&blob);
    return status;
}

/* Finds the recording of a storage, or that of the first tier of a chain that has one. */
static struct recording *find_recording(ingot_storage_t storage)
{
    struct recording *recording = storage_recording(storage);
    for (size_t i = 0; recording == NULL && storage_tier(storage, i) != NULL; ++i)
        recording = find_recording(storage_tier(storage, i));
    return recording;
}

void ingot_persist_record_request(ingot_storage_t storage, const_ingot_program_desc_t desc,
                                  const_ingot_program_t program)
{
    struct kept_error kept;
    struct recording *recording = storage != NULL && desc != NULL ? find_recording(storage) : NULL;
    if (recording == NULL || !storage_is_on(storage))
        return;
    kept_error_save(&kept);
    const struct ingot_context *before = events_enter(ingot_program_desc_get_context(desc));
    for (int which = 0; which < WHICH_COUNT; ++which) {
        const uint64_t started_ns = files_steady_clock_ns();
        const ingot_status_t status =
            recording->stores[which] != NULL
                ? record_request_in(recording->stores[which], storage_name_space(recording->storage), desc, program)
                : INGOT_SUCCESS;
        if (status != INGOT_SUCCESS)
            tell(recording, (enum which)which, status, started_ns, "a request is not recorded");
    }
    events_leave(before);
    kept_error_restore(&kept);
}

/* ---- wishes ---- */

/* What builders need to know of a program. */
struct wished {
    const_ingot_program_desc_t desc;
    size_t id_size;
    const uint8_t *id;
};

static ingot_status_t leave_in(ingot_storage_t tier, const struct wished *wanted)
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
        storage_tell(tier, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, "", reason);
    }
    return status;
}

/* Returns INGOT_BUSY if a tier has the wish, and otherwise the status of the first tier that keeps wishes. */
static ingot_status_t leave_in_tiers(ingot_storage_t storage, const struct wished *wanted)
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
    struct wished wanted = {.desc = desc};
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
        flight_note_wish(storage, wanted.id_size, wanted.id);
    return status == INGOT_NOT_FOUND ? ingot_set_error_detail(status, "no store that can be written keeps wishes")
                                     : status;
}

/* ---- beginning and end ---- */

void record_end(struct recording *recording)
{
    ingot_storage_release(recording->stores[WHICH_OTHER]);
    memory_free(storage_allocator(recording->storage), recording, sizeof(*recording));
}

void record_begin(ingot_storage_t storage, const ingot_persist_info_t *info)
{
    const bool keeps = (info->flags & (uint32_t)INGOT_PERSIST_KEEP_REQUESTS) != 0 &&
                       (info->flags & (uint32_t)INGOT_PERSIST_READ_ONLY) == 0;
    const bool has_path = info->record_path != NULL && info->record_path[0] != '\0';
    const uint64_t started_ns = files_steady_clock_ns();
    if (!keeps && !has_path)
        return;
    struct recording *recording = memory_allocate(storage_allocator(storage), sizeof(*recording));
    ingot_status_t status = INGOT_SUCCESS;
    if (recording == NULL) {
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory to record requests");
    } else {
        *recording = (struct recording){.storage = storage, .stores = {[WHICH_OWN] = keeps ? storage : NULL}};
        storage_set_recording(storage, recording);
    }
    if (status == INGOT_SUCCESS && has_path) {
        ingot_persist_info_t other = INGOT_PERSIST_INFO_INIT;
        other.path = info->record_path;
        other.name_space = info->name_space;
        other.lock_timeout_ms = info->lock_timeout_ms;
        other.allocator = info->allocator;
        other.on_event = info->on_event;
        other.on_event_user = info->on_event_user;
        other.trust = info->trust;
        status = ingot_persist_open(&recording->stores[WHICH_OTHER], &other);
    }
    if (status != INGOT_SUCCESS)
        storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, has_path ? info->record_path : "",
                     ingot_last_error_detail());
}

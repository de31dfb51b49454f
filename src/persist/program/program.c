/*
 * program.c - creates programs and kernels through a storage. Looks for a program in memory, then in the storage, then
 * compiles it.
 *
 * A failure of the storage is reported only by an event, not by a status. A program is stored after all callers that
 * waited for it have received it. The thread that requested it stores it immediately, or adds it to the list of those
 * that wait for a flush (see store_now_or_later).
 *
 * Some drivers check a program's binary closely only when a kernel is created from the program. If they then refuse the
 * binary, the program is removed from memory, its blob is removed from the storage, and a newly compiled program
 * replaces both. Existing references to the old program stay valid.
 */
#include "persist/program/program.h"

#include <ingot/private/descriptor.h>
#include <ingot/private/persist.h>
#include <ingot/private/program.h>
#include <ingot/private/request.h>
#include <stdbool.h>

#include "persist/base/base.h"
#include "persist/request/record.h"
#include "persist/storage/storage.h"
#include "persist/storage/turns/build_turn.h"
#include "util/limit.h"
#include "util/struct_size.h"

/* The largest number of replacements of a program for a kernel. More than one may be needed, because another thread may
 * load the refused blob again before it is removed. */
#define ATTEMPTS 3u
/* PoCL 3.1 takes 70 to 150 ms of processor time to generate the code of a kernel of a few lines, so
 * a process that builds eight kernels, of which it launches two, takes twice as long if it stores them. */
#define FEW_KERNELS 6u

/* A request for a program. ingot_program_get_or_create passes it to the functions that load or build the program. */
struct request {
    ingot_storage_t storage;
    const struct ingot_context *context;
    size_t id_size;
    const uint8_t *id;
    bool has_id;
    ingot_origin_t origin;
    bool is_to_store;
    enum build_turn_wait wait;
    bool has_missed;         /* true: the storage has just been asked, and did not have the program */
    bool was_refused;        /* true: the storage had a blob, but it was useless */
    struct build_turn *turn; /* the turn that this request began; NULL: none */
};

const char *ingot_origin_name(ingot_origin_t origin)
{
    switch (origin) {
    case INGOT_ORIGIN_MEMORY: return "memory";
    case INGOT_ORIGIN_STORAGE: return "storage";
    case INGOT_ORIGIN_BUILD: return "build";
    }
    return "unknown origin";
}

/* Loads the program from the storage. If that fails because the blob is missing or useless, sets is_to_store, so that
 * the program is stored once it is built. */
static ingot_status_t load_program(ingot_program_t *program, void **native, const_ingot_program_desc_t desc,
                                   struct request *request)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const uint64_t started_ns = files_steady_clock_ns();
    ingot_status_t status = ingot_storage_load(request->storage, request->id_size, request->id, &blob);
    events_tell_context(request->context, INGOT_EVENT_STORAGE_LOAD, status, blob.size, started_ns,
                        status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    request->is_to_store = status != INGOT_SUCCESS;
    request->was_refused = status == INGOT_SUCCESS || status == INGOT_UNTRUSTED || storage_is_refusal(status);
    if (status == INGOT_SUCCESS) {
        status = native != NULL ? ingot_program_load_native(native, desc, blob.size, blob.bytes)
                                : ingot_program_load(program, desc, blob.size, blob.bytes);
        request->is_to_store = storage_is_refusal(status);
        if (request->is_to_store)
            storage_reject(request->storage, request->id_size, request->id);
    }
    memory_release_buffer(&blob);
    return status;
}

/* Gets the descriptor's id. Returns false if the descriptor has no id or the storage does not serve its context. If the
 * storage is off, or this is a forked child, the error detail then says so.
 * Reports an id that could not be made. A program that is not cacheable by its nature is reported when it is built. */
static bool get_id(const_ingot_program_desc_t desc, struct request *request)
{
    const uint64_t started_ns = files_steady_clock_ns();
    if (!storage_is_on(request->storage)) {
        (void)storage_refuse(request->storage, INGOT_NOT_FOUND);
        return false;
    }
    const ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &request->id_size, &request->id);
    if (status != INGOT_SUCCESS && status != INGOT_NOT_CACHEABLE)
        events_tell_context(request->context, INGOT_EVENT_NO_ID, status, 0, started_ns, ingot_last_error_detail());
    return status == INGOT_SUCCESS;
}

/* Compiles the program, unless the storage's policy forbids that. */
static ingot_status_t build_missing_program(ingot_program_t *program, const_ingot_program_desc_t desc,
                                            struct request *request)
{
    const ingot_status_t may_build =
        storage_judge_miss(request->storage, request->context, request->id_size, request->has_id ? request->id : NULL);
    if (may_build != INGOT_SUCCESS)
        return may_build;
    struct build_permit *permit = build_permit_take(request->storage);
    request->origin = INGOT_ORIGIN_BUILD;
    const ingot_status_t status = ingot_program_build(program, desc);
    build_permit_give(permit);
    return status;
}

static bool generates_code_at_launch(const_ingot_program_desc_t desc)
{
    ingot_program_info_t made_from = INGOT_PROGRAM_INFO_INIT;
    if (ingot_program_desc_get_info(desc, &made_from) != INGOT_SUCCESS)
        return false;
    for (size_t i = 0; i < made_from.device_count; ++i) {
        ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
        if (ingot_context_get_device_info(ingot_program_desc_get_context(desc), made_from.device_indices[i], &info) ==
                INGOT_SUCCESS &&
            info.generates_code_at_launch)
            return true;
    }
    return false;
}

/* If another process is building the program, waits for it and loads the program. Returns false if this thread should
 * build the program. Does not wait if only a flush stores programs. On a device that generates code at launch, the
 * build shows whether the program is stored at once; if not, the turn ends as pointless. */
static bool load_when_built(ingot_program_t *program, const_ingot_program_desc_t desc, struct request *request)
{
    if (request->turn == NULL && request->is_to_store && storage_is_writable(request->storage) &&
        ingot_persist_get_store_mode(request->storage) != INGOT_PERSIST_STORE_ON_FLUSH)
        request->turn =
            build_turn_begin(request->storage, request->id_size, request->id, request->was_refused, request->wait);
    bool is_loaded = false;
    while (!is_loaded && request->turn != NULL && build_turn_wait(request->turn))
        is_loaded = load_program(program, NULL, desc, request) == INGOT_SUCCESS;
    if (is_loaded) {
        build_turn_end(request->turn, BUILD_TURN_LOADED);
        request->turn = NULL;
    }
    return is_loaded;
}

static ingot_status_t load_or_build(ingot_program_t *program, const_ingot_program_desc_t desc, void *user)
{
    struct request *request = user;
    const bool has_missed = request->has_missed;
    if (!has_missed) {
        request->is_to_store = false; /* a second attempt may decide differently */
        request->has_id = get_id(desc, request);
    }
    request->has_missed = false;
    if (request->has_id && ((!has_missed && load_program(program, NULL, desc, request) == INGOT_SUCCESS) ||
                            load_when_built(program, desc, request))) {
        request->origin = INGOT_ORIGIN_STORAGE;
        return INGOT_SUCCESS;
    }
    return build_turn_is_busy(request->turn) ? ingot_set_error_detail(INGOT_BUSY, "somebody else compiles the program")
                                             : build_missing_program(program, desc, request);
}

static ingot_status_t build_anew(ingot_program_t *program, const_ingot_program_desc_t desc, void *user)
{
    struct request *request = user;
    request->has_id = get_id(desc, request);
    request->is_to_store = request->has_id;
    /* removes the blob only here: this function does not run if another thread has already replaced the program */
    if (request->has_id)
        storage_reject(request->storage, request->id_size, request->id);
    return build_missing_program(program, desc, request);
}

/* True if the program has so few kernels that a driver that generates code at launch provides its blob in a time that
 * nobody notices. */
static bool has_few_kernels(const_ingot_program_t program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    return ingot_program_get_facts(program, &facts) == INGOT_SUCCESS && facts.kernel_count != 0 &&
           facts.kernel_count <= FEW_KERNELS;
}

/* Stores a program that was built, lets it wait for a flush, or both. Returns how the turn ended. */
static enum build_turn_end store_now_or_later(const struct request *request, const_ingot_program_desc_t desc,
                                              ingot_program_t program)
{
    ingot_storage_t storage = request->storage;
    if (!storage_is_writable(storage))
        return BUILD_TURN_NOT_STORED;
    size_t size = 0;
    enum build_turn_end end = BUILD_TURN_POINTLESS; /* those that wait now would wait for a flush */
    const ingot_persist_store_mode_t mode = ingot_persist_get_store_mode(storage);
    const bool waits = mode == INGOT_PERSIST_STORE_ON_FLUSH || generates_code_at_launch(desc);
    const bool is_for_now =
        !waits || mode == INGOT_PERSIST_STORE_NOW || (mode == INGOT_PERSIST_STORE_AUTO && has_few_kernels(program));
    if (is_for_now) {
        const ingot_status_t status =
            deferred_store_now(storage, request->context, desc, program, request->id_size, request->id, &size);
        if (status != INGOT_NOT_CACHEABLE && status != INGOT_NO_SPACE)
            end = status == INGOT_SUCCESS ? BUILD_TURN_STORED : BUILD_TURN_NOT_STORED;
    }
    if (waits && (!is_for_now || size != 0))
        deferred_add(storage, request->context, program, request->id_size, request->id, size);
    return end;
}

/* Asks the in-memory cache, and the builder if that does not have the program. Then stores what was built. */
static ingot_status_t finish_request(ingot_program_t *program, const_ingot_program_desc_t desc, struct request *request,
                                     ingot_program_builder_t builder, ingot_origin_t *origin)
{
    const ingot_status_t status = ingot_program_get_or_create(program, desc, builder, request);
    enum build_turn_end end = status == INGOT_BUILD_FAILED ? BUILD_TURN_POINTLESS : BUILD_TURN_NOT_STORED;
    if (status == INGOT_SUCCESS && request->is_to_store)
        end = store_now_or_later(request, desc, *program);
    else if (status == INGOT_SUCCESS && request->origin == INGOT_ORIGIN_STORAGE)
        end = BUILD_TURN_LOADED; /* a second attempt of the request found the program in the storage */
    if (request->turn != NULL)
        build_turn_end(request->turn, end);
    if (status == INGOT_SUCCESS && request->origin != INGOT_ORIGIN_MEMORY)
        ingot_persist_record_request(request->storage, desc, *program);
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = request->origin;
    return status;
}

static ingot_status_t request_program(ingot_program_t *program, const_ingot_program_desc_t desc,
                                      ingot_storage_t storage, ingot_program_builder_t builder,
                                      enum build_turn_wait wait, ingot_origin_t *origin)
{
    struct request request = {.storage = storage, .context = ingot_program_desc_get_context(desc), .wait = wait};
    const struct ingot_context *before = events_enter(request.context);
    const ingot_status_t status = finish_request(program, desc, &request, builder, origin);
    events_leave(before);
    return status;
}

ingot_status_t persist_program_get(void **native, ingot_program_t *program, const_ingot_program_desc_t desc,
                                   ingot_storage_t storage, enum program_miss miss, ingot_origin_t *origin)
{
    struct request request = {.storage = storage,
                              .context = ingot_program_desc_get_context(desc),
                              .wait = miss == PROGRAM_TRY ? BUILD_TURN_FOR_NONE : BUILD_TURN_FOR_ALL};
    ingot_status_t status = INGOT_SUCCESS;
    const struct ingot_context *before = events_enter(request.context);
    request.has_id = get_id(desc, &request);
    /* An application may ask in each frame, so servers are asked, and the wish is looked after, only at times. */
    if (miss == PROGRAM_WISH && request.has_id && flight_is_wished(storage, request.id_size, request.id) &&
        !storage_has(storage, false, request.id_size, request.id)) {
        events_leave(before);
        return ingot_set_error_detail(INGOT_BUSY, "the program is not there yet, and was wished for just now");
    }
    if (request.has_id && load_program(NULL, native, desc, &request) == INGOT_SUCCESS) {
        *origin = INGOT_ORIGIN_STORAGE;
        ingot_persist_record_request(storage, desc, NULL);
        events_leave(before);
        return INGOT_SUCCESS;
    }
    request.has_missed = true;
    if (miss == PROGRAM_WISH && request.has_id)
        status = wish_leave(storage, desc);
    if (status != INGOT_BUSY)
        status = finish_request(program, desc, &request, load_or_build, origin);
    events_leave(before);
    return status;
}

ingot_status_t persist_program_begin(const_ingot_program_desc_t desc, ingot_storage_t storage)
{
    const struct ingot_context *context = ingot_program_desc_get_context(desc);
    const struct ingot_context *before = events_enter(context);
    size_t id_size = 0;
    const uint8_t *id = NULL;
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &id_size, &id);
    if (status == INGOT_SUCCESS && !storage_is_on(storage))
        status = storage_refuse(storage, INGOT_NOT_FOUND);
    else if (status == INGOT_SUCCESS && !storage_has(storage, true, id_size, id))
        status = wish_leave(storage, desc);
    events_leave(before);
    return status;
}

ingot_status_t ingot_persist_program_create(ingot_program_t *program, const_ingot_program_desc_t desc,
                                            ingot_storage_t storage, ingot_origin_t *origin)
{
    if (program == NULL || desc == NULL || storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "program, desc or storage is NULL");
    return request_program(program, desc, storage, load_or_build, BUILD_TURN_FOR_PROCESSES, origin);
}

ingot_status_t ingot_persist_program_try(ingot_program_t *program, const_ingot_program_desc_t desc,
                                         ingot_storage_t storage, ingot_origin_t *origin)
{
    return request_program(program, desc, storage, load_or_build, BUILD_TURN_FOR_NONE, origin);
}

static ingot_status_t load_only(ingot_program_t *program, const_ingot_program_desc_t desc, void *user)
{
    struct request *request = user;
    request->has_id = get_id(desc, request);
    const bool is_loaded = request->has_id && load_program(program, NULL, desc, request) == INGOT_SUCCESS;
    request->is_to_store = false;
    request->origin = INGOT_ORIGIN_STORAGE;
    if (is_loaded)
        return INGOT_SUCCESS;
    const ingot_status_t may_build =
        storage_judge_miss(request->storage, request->context, request->id_size, request->has_id ? request->id : NULL);
    return may_build != INGOT_SUCCESS ? may_build
                                      : ingot_set_error_detail(INGOT_NOT_FOUND, "the storage lacks the program");
}

ingot_status_t ingot_persist_program_load(ingot_program_t *program, const_ingot_program_desc_t desc,
                                          ingot_storage_t storage, ingot_origin_t *origin)
{
    return request_program(program, desc, storage, load_only, BUILD_TURN_FOR_PROCESSES, origin);
}

/* ---- kernels ---- */

/* True if the driver refused the binary. A missing name or a lack of memory is not a refusal, and a program that was
 * just compiled cannot be replaced by a better one. */
static bool is_refused(ingot_status_t status, const_ingot_program_t program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    if (status == INGOT_BACKEND_ERROR || storage_is_refusal(status))
        (void)ingot_program_get_facts(program, &facts);
    return facts.is_from_cache_blob != 0;
}

ingot_status_t ingot_persist_kernel_create(ingot_kernel_t *kernel, const_ingot_program_desc_t desc,
                                           ingot_storage_t storage, uint32_t device_index, const char *name,
                                           ingot_origin_t *origin)
{
    ingot_program_t program = NULL;
    ingot_origin_t made_from = INGOT_ORIGIN_MEMORY;
    if (kernel == NULL || name == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "kernel or name is NULL");
    ingot_status_t status = ingot_persist_program_create(&program, desc, storage, &made_from);
    for (unsigned i = 0; status == INGOT_SUCCESS; ++i) {
        const uint64_t started_ns = files_steady_clock_ns();
        status = ingot_kernel_create(kernel, program, device_index, name);
        if (i == ATTEMPTS || !is_refused(status, program))
            break;
        events_tell_context(ingot_program_desc_get_context(desc), INGOT_EVENT_LOAD, INGOT_BLOB_REJECTED, 0, started_ns,
                            ingot_last_error_detail());
        (void)ingot_program_forget(program);
        ingot_program_release(program);
        program = NULL;
        status = request_program(&program, desc, storage, build_anew, BUILD_TURN_FOR_PROCESSES, &made_from);
    }
    ingot_program_release(program);
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = made_from;
    return status;
}

/* ---- flush ---- */

ingot_status_t ingot_persist_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                   ingot_persist_flush_progress_t *progress)
{
    ingot_persist_flush_info_t known = INGOT_PERSIST_FLUSH_INFO_INIT;
    ingot_persist_flush_progress_t reached = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    if ((info != NULL && !STRUCT_READ_OVER(known, info)) || (progress != NULL && !STRUCT_IS_SET(progress)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a struct_size is not set");
    ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    ingot_storage_retain(storage); /* its callbacks are called, whatever another thread releases */
    status = deferred_store(storage, NULL, limit_moment_ns(known.max_time_ms), &reached);
    (void)STRUCT_WRITE(progress, reached);
    ingot_storage_release(storage);
    return status;
}

void ingot_persist_flush_program(ingot_storage_t storage, const_ingot_program_t program)
{
    ingot_persist_flush_progress_t unused = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    struct kept_error kept;
    if (storage == NULL || program == NULL || !storage_is_here(storage))
        return;
    kept_error_save(&kept);
    (void)deferred_store(storage, program, UINT64_MAX, &unused);
    kept_error_restore(&kept);
}

void ingot_persist_forget_program(ingot_storage_t storage, const_ingot_program_t program)
{
    if (storage != NULL && program != NULL && storage_is_here(storage))
        deferred_forget(storage, program);
}

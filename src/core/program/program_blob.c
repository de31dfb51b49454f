/*
 * program_blob.c - makes a program's blob from the binaries that the driver returns.
 *
 * The driver is called without a lock. Callers usually call twice: for the size, then for the bytes. The blob is kept
 * between these two calls, so that the driver is asked only once. It is not kept longer, because that would double the
 * memory of cached programs.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/sink.h"
#include "core/blob/cache_blob.h"
#include "core/descriptor/program_desc.h"
#include "core/program/program.h"
#include "util/nanoseconds.h"

/* Gets the binaries of all device classes and concatenates them. ends[i] is the offset at which binary i ends. */
static ingot_status_t gather_binaries(const struct program_body *body, const struct device_classes *classes,
                                      struct ingot_sink *binaries, size_t *ends)
{
    struct ingot_context *context = body->desc->context;
    ingot_status_t status = INGOT_SUCCESS;

    for (size_t i = 0; status == INGOT_SUCCESS && i < classes->class_count; ++i) {
        const size_t start = binaries->writer.size;
        const uint32_t device = classes->classes[i].device;
        status = context->ops.get_binary(context->state, body->native, device, binaries);
        if (context_make_room(context, status)) {
            binaries->writer.size = start;
            binaries->writer.failed = false;
            status = context->ops.get_binary(context->state, body->native, device, binaries);
        }
        if (status == INGOT_SUCCESS && binaries->writer.failed)
            status = error_out_of_memory(); /* the backend may have ignored a failed write */
        ends[i] = binaries->writer.size;
    }
    return status;
}

const char *program_native_reason(const struct program_body *body)
{
    return body->is_native ? program_log(body) + body->log_size : NULL;
}

static ingot_status_t make_blob(const struct program_body *body, const struct cache_blob_id *id, size_t *size,
                                uint8_t **blob, size_t *device_bytes)
{
    const ingot_allocator_t *allocator = &body->desc->context->allocator;
    struct device_classes classes;
    struct arena arena;
    struct ingot_sink binaries;
    struct bytes_writer writer;

    arena_init(&arena, allocator);
    bytes_writer_init(&binaries.writer, allocator);
    bytes_writer_init(&writer, allocator);
    const size_t count = body->desc->device_count;
    struct blob_section *sections = arena_take(&arena, count * sizeof(*sections));
    size_t *ends = arena_take(&arena, count * sizeof(*ends));
    ingot_status_t status = device_classes_init(&classes, body->desc, &arena);
    if (status == INGOT_SUCCESS)
        status = gather_binaries(body, &classes, &binaries, ends);
    if (status == INGOT_SUCCESS) {
        const char *source_name = program_desc_name(body->desc);
        const struct blob_view view = {.library_digest = id->library_digest,
                                       .request_digest = id->request_digest,
                                       .names_size = body->names_size,
                                       .names = body->names,
                                       .log_size = body->log_size - 1,
                                       .log = program_log(body),
                                       .source_name_size = strlen(source_name),
                                       .source_name = source_name,
                                       .files_size = body->desc->files_size,
                                       .files = body->desc->files,
                                       .build_ns = body->build_ns,
                                       .section_count = (uint32_t)classes.class_count};
        for (size_t i = 0; i < classes.class_count; ++i) {
            const size_t start = i != 0 ? ends[i - 1] : 0;
            sections[i] = (struct blob_section){classes.classes[i].identity->digest,
                                                {ends[i] - start, binaries.writer.bytes + start}};
        }
        blob_write(&writer, &view, sections);
        *blob = bytes_take(&writer, size);
        /* a shared binary is counted once per device, as it is for a loaded program */
        size_t total = 0;
        for (size_t i = 0; i < count; ++i) {
            const size_t class = classes.class_of[i];
            total += ends[class] - (class != 0 ? ends[class - 1] : 0);
        }
        *device_bytes = total;
        status = *blob != NULL ? INGOT_SUCCESS : error_out_of_memory();
    }
    bytes_writer_fini(&writer);
    bytes_writer_fini(&binaries.writer);
    arena_fini(&arena);
    return status;
}

static ingot_status_t take_blob(const struct ingot_program *program, size_t *size, uint8_t **blob)
{
    struct program_body *body = program_body(program);
    struct ingot_context *context = body->desc->context;
    size_t device_bytes = 0;
    const struct cache_blob_id *id = NULL;

    if (context->ops.get_binary == NULL)
        return error_set(INGOT_UNIMPLEMENTED, "the backend %s does not provide binaries", context->ops.name);
    if (body->is_native)
        return error_set(INGOT_NOT_CACHEABLE, "%s", program_native_reason(body));
    ingot_status_t status = cache_blob_id_get(body->desc, &id);
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t start = trace_wanted(&context->trace) ? nanoseconds_of(CLOCK_MONOTONIC) : 0;
    status = make_blob(body, id, size, blob, &device_bytes);
    /* Drivers may generate a kernel's code only when its binary or the kernel is requested. They may keep that code, so
     * after a change of the compiler's files or variables, the program never gets a blob. Relaxed: a static string. */
    const char *change = atomic_load_explicit(&body->compiler_change, memory_order_relaxed);
    if (change == NULL && status == INGOT_SUCCESS)
        change = context_compiler_change(context, body->desc->device_count, body->desc->device_indices);
    if (change != NULL && status == INGOT_SUCCESS) {
        atomic_store_explicit(&body->compiler_change, change, memory_order_relaxed);
        status = error_set(INGOT_NOT_CACHEABLE, "%s", change);
        memory_free(&context->allocator, *blob, *size);
    }
    /* The in-memory cache has counted an estimate. Relaxed: nothing else is published with the number. */
    if (status == INGOT_SUCCESS &&
        atomic_exchange_explicit(&body->device_bytes, device_bytes, memory_order_relaxed) != device_bytes)
        memory_cache_recount(context->programs, program_entry(program), program_count_bytes(body));
    context_count(&context->counters.blobs_taken);
    program_emit(body->desc, INGOT_EVENT_TAKE_BLOB, status, start, status == INGOT_SUCCESS ? *size : 0,
                 status != INGOT_SUCCESS ? ingot_last_error_detail() : "");
    return status;
}

void program_free_blob(struct kept_blob *blob, const ingot_allocator_t *allocator)
{
    if (blob == NULL)
        return;
    memory_free(allocator, blob->bytes, blob->size);
    memory_free(allocator, blob, sizeof(*blob));
}

ingot_status_t ingot_program_get_cache_blob(const_ingot_program_t program, size_t *size, uint8_t *cache_blob)
{
    if (program == NULL || size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "program or size is NULL");
    struct program_body *body = program_body(program);
    const ingot_allocator_t *allocator = &body->desc->context->allocator;
    struct kept_blob *kept = atomic_exchange_explicit(&body->blob, NULL, memory_order_acquire);
    size_t blob_size = kept != NULL ? kept->size : 0;
    uint8_t *blob = kept != NULL ? kept->bytes : NULL;

    memory_free(allocator, kept, sizeof(*kept));
    if (blob == NULL) {
        const ingot_status_t status = take_blob(program, &blob_size, &blob);
        if (status != INGOT_SUCCESS)
            return status;
    }
    const ingot_status_t status = bytes_copy_out(blob_size, blob, size, cache_blob);
    /* Keeps the blob until the next call copies it out. If that is impossible for lack of memory, the next call asks
     * the driver again. */
    const bool is_wanted = status != INGOT_SUCCESS || cache_blob == NULL;
    kept = is_wanted ? memory_allocate(allocator, sizeof(*kept)) : NULL;
    if (kept == NULL) {
        memory_free(allocator, blob, blob_size);
        return status;
    }
    *kept = (struct kept_blob){blob_size, blob};
    /* release: pairs with the acquire of the thread that takes the blob. acquire: if another thread kept a blob
     * meanwhile, it is freed here. */
    program_free_blob(atomic_exchange_explicit(&body->blob, kept, memory_order_acq_rel), allocator);
    return status;
}

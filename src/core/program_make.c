/*
 * program_make.c - programs past the in-memory cache: by compiling, or from a blob.
 *
 * One compilation for equal devices: it is made for the first of them, and the others load its binary. From a blob
 * that has binaries for some of the devices only, the missing ones are compiled likewise.
 */
#include <string.h>

#include "core/blob/cache_blob.h"
#include "core/blob/cache_blob_id.h"
#include "core/identity/device_classes.h"
#include "core/error.h"
#include "core/program.h"
#include "core/sink.h"

/* What is needed while a program is made; init before, fini after, on failure too. */
struct workshop {
    const struct ingot_program_desc *desc;
    struct ingot_context *context;
    struct desc_request request;
    struct device_classes classes;
    struct ingot_sink log;
    struct ingot_sink names;
    struct ingot_sink binaries; /* what was compiled here for load */
    size_t device_bytes;
    bool files_changed;
};

static ingot_status_t workshop_init(struct workshop *shop, const struct ingot_program_desc *desc)
{
    memset(shop, 0, sizeof(*shop));
    shop->desc = desc;
    shop->context = desc->context;
    bytes_writer_init(&shop->log.writer, &desc->context->allocator);
    bytes_writer_init(&shop->names.writer, &desc->context->allocator);
    bytes_writer_init(&shop->binaries.writer, &desc->context->allocator);
    return desc_request_init(&shop->request, desc);
}

static void workshop_fini(struct workshop *shop)
{
    bytes_writer_fini(&shop->log.writer);
    bytes_writer_fini(&shop->names.writer);
    bytes_writer_fini(&shop->binaries.writer);
    if (shop->request.views != NULL)
        desc_request_fini(&shop->request, shop->desc);
    if (shop->classes.classes != NULL)
        device_classes_fini(&shop->classes, shop->desc);
}

/* The driver's own sentence is in the detail; a compiler's log says more. */
static ingot_status_t explain_failure(struct workshop *shop, ingot_status_t status)
{
    if (status == INGOT_BUILD_FAILED && shop->log.writer.size != 0) {
        const int length = shop->log.writer.size < INT32_MAX ? (int)shop->log.writer.size : INT32_MAX;
        return error_set(status, "%.*s", length, (const char *)shop->log.writer.bytes);
    }
    return status;
}

/* A compiler reads included files itself, later than the descriptor did. */
static ingot_status_t check_files(struct workshop *shop)
{
    bool unchanged = true;
    const ingot_status_t status = desc_request_check_files(&shop->request, shop->desc, &unchanged);
    shop->files_changed = shop->files_changed || !unchanged;
    return status;
}

static ingot_status_t compile(struct workshop *shop, size_t device_count, const uint32_t *devices, void **native)
{
    struct ingot_context *context = shop->context;
    const ingot_backend_ops_t *ops = &context->ops;
    const uint64_t start = trace_wanted(&context->trace) ? os_now_ns() : 0;
    const size_t log_start = shop->log.writer.size;

    ingot_status_t status =
        ops->build(context->state, &shop->request.request, device_count, devices, &shop->log, native);
    if (context_make_room(context, status)) {
        shop->log.writer.size = log_start;
        shop->log.writer.failed = false;
        status = ops->build(context->state, &shop->request.request, device_count, devices, &shop->log, native);
    }
    status = explain_failure(shop, status);
    context_count(status == INGOT_SUCCESS ? &context->counters.builds : &context->counters.build_failures);
    program_emit(shop->desc, INGOT_EVENT_BUILD, status, start, 0, status != INGOT_SUCCESS ? ingot_last_error_detail() : "");
    if (status != INGOT_SUCCESS)
        return status;
    status = check_files(shop);
    if (status != INGOT_SUCCESS)
        ops->destroy_program(context->state, *native);
    return status;
}

/* Compiles for one device of each class that has no binary yet, and keeps the binaries. */
static ingot_status_t compile_missing(struct workshop *shop)
{
    struct ingot_context *context = shop->context;
    struct device_class *classes = shop->classes.classes;
    size_t *starts = alloc_zeroed(&context->allocator, (shop->classes.class_count + 1) * sizeof(*starts));
    ingot_status_t status = starts != NULL ? INGOT_SUCCESS : error_out_of_memory();

    for (size_t i = 0; status == INGOT_SUCCESS && i < shop->classes.class_count; ++i) {
        void *native = NULL;
        starts[i] = shop->binaries.writer.size;
        if (classes[i].binary.bytes != NULL)
            continue;
        status = compile(shop, 1, &classes[i].device, &native);
        if (status != INGOT_SUCCESS)
            break;
        status = context->ops.get_binary(context->state, native, classes[i].device, &shop->binaries);
        context->ops.destroy_program(context->state, native);
    }
    /* The bytes lie still from here on. */
    for (size_t i = 0; status == INGOT_SUCCESS && i < shop->classes.class_count; ++i) {
        const size_t end = i + 1 < shop->classes.class_count ? starts[i + 1] : shop->binaries.writer.size;
        if (classes[i].binary.bytes == NULL)
            classes[i].binary = (ingot_binary_t){end - starts[i], shop->binaries.writer.bytes + starts[i]};
    }
    alloc_free(&context->allocator, starts, (shop->classes.class_count + 1) * sizeof(*starts));
    return status;
}

/* Hands each device its class's binary. */
static ingot_status_t load_binaries(struct workshop *shop, void **native)
{
    const struct ingot_program_desc *desc = shop->desc;
    struct ingot_context *context = shop->context;
    const size_t size = desc->device_count * sizeof(ingot_binary_t);
    ingot_binary_t *binaries = alloc_bytes(&context->allocator, size);

    if (binaries == NULL)
        return error_out_of_memory();
    for (size_t i = 0; i < desc->device_count; ++i) {
        binaries[i] = shop->classes.classes[shop->classes.class_of[i]].binary;
        shop->device_bytes += binaries[i].size;
    }
    ingot_status_t status = context->ops.load(context->state, &shop->request.request, desc->device_count,
                                              desc->device_indices, binaries, native);
    if (context_make_room(context, status))
        status = context->ops.load(context->state, &shop->request.request, desc->device_count, desc->device_indices,
                                   binaries, native);
    alloc_free(&context->allocator, binaries, size);
    return status;
}

/* One compilation for equal devices. INGOT_UNIMPLEMENTED: none are equal. */
static ingot_status_t build_by_class(struct workshop *shop, void **native)
{
    const struct ingot_program_desc *desc = shop->desc;

    if (desc->device_count == 1 || shop->context->ops.load == NULL)
        return INGOT_UNIMPLEMENTED;
    ingot_status_t status = device_classes_init(&shop->classes, desc);
    if (status == INGOT_SUCCESS && shop->classes.class_count == desc->device_count)
        return INGOT_UNIMPLEMENTED;
    if (status == INGOT_SUCCESS)
        status = compile_missing(shop);
    return status == INGOT_SUCCESS ? load_binaries(shop, native) : status;
}

/* A device that does not say what it is, or a driver without binaries, is no reason not to compile. */
static ingot_status_t build_native(struct workshop *shop, void **native)
{
    const ingot_status_t status = build_by_class(shop, native);

    if (status == INGOT_SUCCESS || status == INGOT_BUILD_FAILED || status == INGOT_OUT_OF_MEMORY)
        return status;
    shop->log.writer.size = 0;
    shop->device_bytes = 0;
    return compile(shop, shop->desc->device_count, shop->desc->device_indices, native);
}

static size_t known_size(const struct workshop *shop, void *native)
{
    const struct ingot_context *context = shop->context;
    if (shop->device_bytes == 0 && context->ops.get_program_size != NULL)
        return context->ops.get_program_size(context->state, native);
    return shop->device_bytes;
}

/* Takes native over. */
static ingot_status_t finish(struct workshop *shop, void *native, ingot_program_t *program)
{
    const struct program_parts parts = {.native = native,
                                        .names = &shop->names.writer,
                                        .log_size = shop->log.writer.size,
                                        .log = (const char *)shop->log.writer.bytes,
                                        .device_bytes = known_size(shop, native),
                                        .files_changed = shop->files_changed};
    if (shop->names.writer.failed || shop->log.writer.failed) {
        shop->context->ops.destroy_program(shop->context->state, native);
        return error_out_of_memory();
    }
    return program_create(program, shop->desc, &parts);
}

ingot_status_t ingot_program_build(ingot_program_t *program, const_ingot_program_desc_t desc)
{
    struct workshop shop;
    void *native = NULL;

    if (program == NULL || desc == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "program or desc is NULL");
    if (program_desc_is_of_id(desc))
        return error_set(INGOT_INVALID_ARGUMENTS, "desc is of an id alone and has no sources to be compiled");
    ingot_status_t status = workshop_init(&shop, desc);
    if (status == INGOT_SUCCESS)
        status = build_native(&shop, &native);
    if (status == INGOT_SUCCESS) {
        status = shop.context->ops.get_kernel_names(shop.context->state, native, &shop.names);
        if (status == INGOT_SUCCESS)
            status = finish(&shop, native, program);
        else
            shop.context->ops.destroy_program(shop.context->state, native);
    }
    workshop_fini(&shop);
    return status;
}

/* Whether a sound blob is for this descriptor, and which of its binaries are for which devices. */
static ingot_status_t match_blob(struct workshop *shop, const struct blob_view *blob, const struct cache_blob_id *id)
{
    size_t found = 0;

    if (memcmp(blob->program_digest, id->program_digest, DIGEST_SIZE) != 0)
        return error_set(INGOT_BLOB_MISMATCH, "the blob is of another program");
    if (memcmp(blob->library_digest, id->library_digest, DIGEST_SIZE) != 0)
        return error_set(INGOT_BLOB_STALE, "the blob is of another backend or another build of the library");
    ingot_status_t status = device_classes_init(&shop->classes, shop->desc);
    if (status != INGOT_SUCCESS)
        return status;
    for (size_t i = 0; i < shop->classes.class_count; ++i) {
        struct device_class *class = &shop->classes.classes[i];
        class->binary = blob_find_section(blob, class->identity->digest);
        found += class->binary.bytes != NULL;
    }
    if (found != shop->classes.class_count && program_desc_is_of_id(shop->desc))
        return error_set(INGOT_BLOB_STALE, "the blob lacks a device, for which an id alone cannot be compiled");
    return found != 0 ? INGOT_SUCCESS : error_set(INGOT_BLOB_STALE, "the blob is for other devices, drivers or compilers");
}

static ingot_status_t load_blob(struct workshop *shop, size_t size, const uint8_t *bytes, ingot_program_t *program)
{
    const struct cache_blob_id *id = NULL;
    struct blob_view blob;
    void *native = NULL;

    if (shop->context->ops.load == NULL)
        return error_set(INGOT_UNIMPLEMENTED, "the backend %s has no binaries", shop->context->ops.name);
    ingot_status_t status = cache_blob_id_get(shop->desc, &id);
    if (status == INGOT_SUCCESS)
        status = blob_read(&blob, size, bytes);
    if (status == INGOT_SUCCESS)
        status = match_blob(shop, &blob, id);
    if (status != INGOT_SUCCESS)
        return status;
    bytes_put(&shop->log.writer, blob.log_size, blob.log);
    bytes_put(&shop->names.writer, blob.names_size, blob.names);
    status = compile_missing(shop);
    if (status == INGOT_SUCCESS)
        status = load_binaries(shop, &native);
    return status == INGOT_SUCCESS ? finish(shop, native, program) : status;
}

ingot_status_t ingot_program_load(ingot_program_t *program, const_ingot_program_desc_t desc, size_t size,
                                  const uint8_t *cache_blob)
{
    struct workshop shop;

    if (program == NULL || desc == NULL || (cache_blob == NULL && size != 0))
        return error_set(INGOT_INVALID_ARGUMENTS, "program, desc or cache_blob is NULL");
    struct ingot_context *context = desc->context;
    const uint64_t start = trace_wanted(&context->trace) ? os_now_ns() : 0;
    ingot_status_t status = workshop_init(&shop, desc);
    if (status == INGOT_SUCCESS)
        status = load_blob(&shop, size, cache_blob, program);
    workshop_fini(&shop);
    context_count(status == INGOT_SUCCESS ? &context->counters.loads : &context->counters.load_failures);
    program_emit(desc, INGOT_EVENT_LOAD, status, start, size, status != INGOT_SUCCESS ? ingot_last_error_detail() : "");
    return status;
}

/*
 * program_make.c - makes programs by compiling them or from blobs, without using the in-memory cache.
 *
 * Devices with equal identities share one compilation: the program is compiled for the first of them, and the others
 * load that binary. If a blob lacks the binaries of some devices, they are compiled in the same way.
 */
#include <ingot/private/descriptor.h>
#include <ingot/private/program.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/metrics.h"
#include "core/base/sink.h"
#include "core/blob/cache_blob.h"
#include "core/descriptor/desc_texts.h"
#include "core/descriptor/program_desc.h"
#include "core/hermetic/text_digests.h"
#include "core/program/program.h"
#include "util/hex.h"
#include "util/nanoseconds.h"

/* ---- devices with equal identities ---- */

ingot_status_t device_classes_init(struct device_classes *classes, const struct ingot_program_desc *desc,
                                   struct arena *arena)
{
    classes->class_count = 0;
    classes->classes = arena_take(arena, desc->device_count * sizeof(*classes->classes));
    classes->class_of = arena_take(arena, desc->device_count * sizeof(*classes->class_of));
    if (arena->failed)
        return error_out_of_memory();
    for (size_t i = 0; i < desc->device_count; ++i) {
        const struct device_identity *identity = NULL;
        const ingot_status_t status = context_get_identity(desc->context, desc->device_indices[i], &identity);
        size_t class = 0;
        if (status != INGOT_SUCCESS)
            return status;
        while (class < classes->class_count &&
               memcmp(classes->classes[class].identity->digest, identity->digest, DIGEST_SIZE) != 0)
            ++class;
        if (class == classes->class_count)
            classes->classes[classes->class_count++] =
                (struct device_class){identity, desc->device_indices[i], {0, NULL}};
        classes->class_of[i] = class;
    }
    return INGOT_SUCCESS;
}

/* ---- making programs ---- */

/* The state of a program that is being made. workshop_fini must be called even if workshop_init failed. */
struct workshop {
    const struct ingot_program_desc *desc;
    struct ingot_context *context;
    ingot_build_request_t request;
    void *native;             /* the program's, which finish_program takes over */
    struct blob_view content; /* the program's names, log and build time */
    struct device_classes classes;
    struct ingot_sink log;
    struct ingot_sink names;
    struct ingot_sink binaries; /* binaries that were compiled here, to be loaded on equal devices */
    size_t device_bytes;
    uint64_t build_ns; /* total duration of the compilations here */
    struct hermetic_request hermetic;
    bool lacks_only_names; /* true if the hermetic request has the program's own texts */
    const char *change; /* says which file or variable of the compiler has changed since the id was made; NULL: none */
    struct arena arena;
};

static ingot_status_t workshop_init(struct workshop *shop, const struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;

    *shop = (struct workshop){.desc = desc, .context = desc->context};
    bytes_writer_init(&shop->log.writer, allocator);
    bytes_writer_init(&shop->names.writer, allocator);
    bytes_writer_init(&shop->binaries.writer, allocator);
    arena_init(&shop->arena, allocator);
    hermetic_init(&shop->hermetic.hermetic, allocator);
    return desc_request_init(&shop->request, desc, &shop->arena);
}

/* Prepares the texts without includes, if possible. Called before anything is compiled. Takes the names of text sources
 * out of what is compiled, unless they are in the id: a compiler that calls an unnamed source by a name of its own
 * (NVRTC) puts the name into internal symbols, so equal ids would have different code. */
static ingot_status_t prepare_texts(struct workshop *shop)
{
    struct hermetic_request *hermetic = &shop->hermetic;
    const struct ingot_program_desc *desc = shop->desc;
    struct text_digests digests;
    bool is_named = false;
    const ingot_status_t status = hermetic_request_make(hermetic, desc, &shop->request, &shop->arena);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_build_request_t *from = hermetic->is_there ? &hermetic->request : &shop->request;
    (void)text_digests_read(&digests, desc->digests_size, program_desc_digests(desc), desc->source_count);
    if (desc->not_cacheable != NULL || hermetic->refusal != NULL || digests.names_matter ||
        shop->context->text_rules.of_backend.unnamed_source == NULL)
        return INGOT_SUCCESS;
    ingot_source_view_t *views = arena_take(&shop->arena, from->source_count * sizeof(*views));
    if (views == NULL)
        return error_out_of_memory();
    for (size_t i = 0; i < from->source_count; ++i) {
        views[i] = from->sources[i];
        if (!hermetic_kind_has_includes(views[i].kind) || views[i].name[0] == '\0')
            continue;
        views[i].name = "";
        is_named = true;
    }
    if (!is_named)
        return INGOT_SUCCESS;
    shop->lacks_only_names = !hermetic->is_there;
    hermetic->request = *from;
    hermetic->request.sources = views;
    hermetic->is_there = true;
    return INGOT_SUCCESS;
}

static void workshop_fini(struct workshop *shop)
{
    bytes_writer_fini(&shop->log.writer);
    bytes_writer_fini(&shop->names.writer);
    bytes_writer_fini(&shop->binaries.writer);
    hermetic_fini(&shop->hermetic.hermetic);
    arena_fini(&shop->arena);
}

static ingot_status_t run_compiler(struct workshop *shop, const ingot_build_request_t *request, size_t device_count,
                                   const uint32_t *devices, void **native)
{
    struct ingot_context *context = shop->context;
    const ingot_backend_ops_t *ops = &context->ops;
    const size_t log_start = shop->log.writer.size;

    ingot_status_t status = ops->build(context->state, request, device_count, devices, &shop->log, native);
    if (context_make_room(context, status)) {
        shop->log.writer.size = log_start;
        shop->log.writer.failed = false;
        status = ops->build(context->state, request, device_count, devices, &shop->log, native);
    }
    return status;
}

/* First compiles the hermetic texts, in which the included texts replace the includes. If they do not build, compiles
 * the program natively, that is, with its original texts, so that a broken program gets the log that the application
 * expects. A natively compiled program has no id. */
static ingot_status_t run_compilers(struct workshop *shop, size_t device_count, const uint32_t *devices, void **native)
{
    static const char *const refusals[] = {HERMETIC_NO_ASM, "poisoned identifier"}; /* of asm, in the compiler's log */
    const size_t log_start = shop->log.writer.size;
    struct hermetic_request *hermetic = &shop->hermetic;

    if (!hermetic->is_there)
        return run_compiler(shop, &shop->request, device_count, devices, native);
    ingot_status_t status = run_compiler(shop, &hermetic->request, device_count, devices, native);
    if (status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY ||
        (shop->lacks_only_names && status != INGOT_BUILD_FAILED))
        return status;
    /* other failures, such as a lost device, may pass, so they are not remembered */
    if (status == INGOT_BUILD_FAILED && !shop->lacks_only_names)
        native_builds_add(shop->context->native_builds, shop->desc->key_hash);
    hermetic->is_there = false;
    hermetic->refusal = hermetic->hermetic.gap != NULL
                            ? hermetic->hermetic.gap
                            : "the program did not build without the files that its compiler finds by itself";
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]) && hermetic->hermetic.assembly != NULL; ++i) {
        if (memmem(shop->log.writer.bytes + log_start, shop->log.writer.size - log_start, refusals[i],
                   strlen(refusals[i])) != NULL)
            hermetic->refusal = hermetic->hermetic.assembly;
    }
    shop->log.writer.size = log_start;
    shop->log.writer.failed = false;
    return run_compiler(shop, &shop->request, device_count, devices, native);
}

/* Returns why the program is compiled natively, or NULL if it is compiled from exactly what its id identifies. */
static const char *native_reason(const struct workshop *shop)
{
    if (shop->hermetic.refusal != NULL)
        return shop->hermetic.refusal;
    return shop->desc->not_cacheable != NULL ? shop->desc->not_cacheable : shop->change;
}

static ingot_status_t compile_program(struct workshop *shop, size_t device_count, const uint32_t *devices,
                                      void **native)
{
    struct ingot_context *context = shop->context;
    const struct bytes_writer *log = &shop->log.writer;
    const uint64_t start = nanoseconds_of(CLOCK_MONOTONIC);

    const ingot_status_t status = run_compilers(shop, device_count, devices, native);
    shop->build_ns += nanoseconds_of(CLOCK_MONOTONIC) - start;
    if (shop->change == NULL)
        shop->change = context_compiler_change(context, device_count, devices);
    if (status == INGOT_BUILD_FAILED && log->size != 0) /* the compiler's log says more than the driver's message */
        (void)ingot_set_error(status, ingot_last_error_code(), "%.*s",
                              log->size < INT32_MAX ? (int)log->size : INT32_MAX, (const char *)log->bytes);
    context_count(status == INGOT_SUCCESS ? &context->counters.builds : &context->counters.build_failures);
    program_emit(shop->desc, INGOT_EVENT_BUILD, status, start, 0,
                 status != INGOT_SUCCESS ? ingot_last_error_detail() : "");
    if (status == INGOT_SUCCESS && native_reason(shop) != NULL)
        program_emit(shop->desc, INGOT_EVENT_NATIVE_BUILD, INGOT_NOT_CACHEABLE, 0, 0, native_reason(shop));
    return status;
}

/* For each class of devices that has no binary yet, compiles for one of its devices. */
static ingot_status_t compile_missing_binaries(struct workshop *shop)
{
    const ingot_backend_ops_t *ops = &shop->context->ops;
    struct device_class *classes = shop->classes.classes;
    const size_t count = shop->classes.class_count;
    size_t *ends = arena_take(&shop->arena, count * sizeof(*ends));
    ingot_status_t status = ends != NULL ? INGOT_SUCCESS : error_out_of_memory();

    for (size_t i = 0; status == INGOT_SUCCESS && i < count; ++i) {
        void *native = NULL;
        if (classes[i].binary.bytes != NULL)
            continue;
        status = compile_program(shop, 1, &classes[i].device, &native);
        if (status == INGOT_SUCCESS) {
            status = ops->get_binary(shop->context->state, native, classes[i].device, &shop->binaries);
            ops->destroy_program(shop->context->state, native);
            ends[i] = shop->binaries.writer.size;
        }
    }
    if (status == INGOT_SUCCESS && shop->binaries.writer.failed)
        status = error_out_of_memory(); /* the backend may have ignored a failed write */
    /* The writer's memory does not move from here on, so pointers into it stay valid. */
    size_t start = 0;
    for (size_t i = 0; status == INGOT_SUCCESS && i < count; ++i) {
        if (classes[i].binary.bytes != NULL)
            continue;
        classes[i].binary = (ingot_binary_t){ends[i] - start, shop->binaries.writer.bytes + start};
        start = ends[i];
    }
    return status;
}

/* Makes the native program: for each device, loads the binary of the device's class. */
static ingot_status_t load_binaries(struct workshop *shop, void **native)
{
    const struct ingot_program_desc *desc = shop->desc;
    struct ingot_context *context = shop->context;
    ingot_binary_t *binaries = arena_take(&shop->arena, desc->device_count * sizeof(*binaries));

    if (binaries == NULL)
        return error_out_of_memory();
    for (size_t i = 0; i < desc->device_count; ++i) {
        binaries[i] = shop->classes.classes[shop->classes.class_of[i]].binary;
        shop->device_bytes += binaries[i].size;
    }
    ingot_status_t status =
        context->ops.load(context->state, &shop->request, desc->device_count, desc->device_indices, binaries, native);
    if (context_make_room(context, status))
        status = context->ops.load(context->state, &shop->request, desc->device_count, desc->device_indices, binaries,
                                   native);
    return status;
}

/* Makes the native program. Compiles once for all devices with equal identities. If that is impossible, for example
 * because all differ, a device cannot be identified or the driver returns no binary, compiles for all devices at once.
 */
static ingot_status_t build_native(struct workshop *shop, void **native)
{
    const struct ingot_program_desc *desc = shop->desc;
    ingot_status_t status = INGOT_UNIMPLEMENTED;

    if (desc->device_count > 1 && shop->context->ops.load != NULL)
        status = device_classes_init(&shop->classes, desc, &shop->arena);
    if (status == INGOT_SUCCESS && shop->classes.class_count == desc->device_count)
        status = INGOT_UNIMPLEMENTED;
    if (status == INGOT_SUCCESS)
        status = compile_missing_binaries(shop);
    if (status == INGOT_SUCCESS)
        status = load_binaries(shop, native);
    if (status == INGOT_SUCCESS || status == INGOT_BUILD_FAILED || status == INGOT_OUT_OF_MEMORY)
        return status;
    shop->log.writer.size = 0;
    shop->device_bytes = 0;
    shop->build_ns = 0;
    return compile_program(shop, desc->device_count, desc->device_indices, native);
}

/* Makes the program from what is in the workshop. Takes over the native program, even on failure. */
static ingot_status_t finish_program(struct workshop *shop, bool is_from_blob, ingot_program_t *program)
{
    /* descriptors are never const objects, because all are on the heap */
    struct ingot_program_desc *desc = (struct ingot_program_desc *)shop->desc;
    struct ingot_context *context = shop->context;
    const struct blob_view *content = &shop->content;
    const char *reason = native_reason(shop);
    const size_t reason_size = reason != NULL ? strlen(reason) + 1 : 0;
    const size_t size =
        offsetof(struct program_body, names) + content->names_size + content->log_size + 1 + reason_size;
    const bool is_too_long = content->names_size > UINT32_MAX;
    struct memory_cache *programs = context_programs(context);
    struct program_body *body =
        programs != NULL && !is_too_long ? memory_allocate_zeroed(&context->allocator, size) : NULL;
    struct cache_entry *entry = body != NULL ? cache_entry_create(programs, body) : NULL;
    if (entry == NULL) {
        if (shop->native != NULL)
            context->ops.destroy_program(context->state, shop->native);
        memory_free(&context->allocator, body, size);
        return is_too_long ? error_set(INGOT_BACKEND_ERROR, "the backend's kernel names are too long")
                           : error_out_of_memory();
    }
    body->desc = desc;
    program_desc_reference(desc);
    for (size_t i = 0; i < content->names_size; ++i)
        body->name_count += content->names[i] == '\0';
    body->names_size = (uint32_t)content->names_size;
    body->log_size = content->log_size + 1;
    if (content->names_size != 0)
        memcpy(body->names, content->names, content->names_size);
    if (content->log_size != 0)
        memcpy(body->names + content->names_size, content->log, content->log_size);
    if (reason != NULL)
        memcpy(body->names + content->names_size + body->log_size, reason, reason_size);
    body->native = shop->native;
    const size_t device_bytes = shop->device_bytes == 0 && context->ops.get_program_size != NULL
                                    ? context->ops.get_program_size(context->state, shop->native)
                                    : shop->device_bytes;
    atomic_init(&body->device_bytes, device_bytes);
    body->build_ns = content->build_ns;
    body->is_from_blob = is_from_blob;
    body->is_native = reason != NULL;
    *program = (struct ingot_program *)entry;
    return INGOT_SUCCESS;
}

/* Fills in what is known only after a build: the kernel names, from the backend, and the log, from the compiler. */
static ingot_status_t describe_built(struct workshop *shop)
{
    const struct ingot_context *context = shop->context;
    const ingot_status_t status = context->ops.get_kernel_names(context->state, shop->native, &shop->names);

    if (status != INGOT_SUCCESS)
        return status;
    if (shop->names.writer.failed || shop->log.writer.failed)
        return error_out_of_memory();
    struct blob_view *content = &shop->content;
    content->log_size = shop->log.writer.size;
    content->log = (const char *)shop->log.writer.bytes;
    content->build_ns = shop->build_ns;
    /* Backends list kernel names in any order, and programs and blobs keep them sorted. */
    const struct bytes_writer *given = &shop->names.writer;
    size_t count = 0;

    if (given->size != 0 && given->bytes[given->size - 1] != '\0')
        return error_set(INGOT_BACKEND_ERROR, "the backend's last kernel name is not terminated");
    for (size_t i = 0; i < given->size; ++i)
        count += given->bytes[i] == '\0';
    const char **each = arena_take(&shop->arena, count * sizeof(*each));
    char *sorted = arena_take(&shop->arena, given->size);
    if (sorted == NULL)
        return error_out_of_memory();
    const char *name = (const char *)given->bytes;
    for (size_t i = 0; i < count; ++i, name += strlen(name) + 1)
        each[i] = name;
    texts_sort(count, each);
    content->names = sorted;
    content->names_size = given->size;
    for (size_t i = 0; i < count; ++i) {
        const size_t length = strlen(each[i]) + 1;
        memcpy(sorted, each[i], length);
        sorted += length;
    }
    return INGOT_SUCCESS;
}

ingot_status_t ingot_program_build(ingot_program_t *program, const_ingot_program_desc_t desc)
{
    struct workshop shop;

    ingot_status_t status = workshop_init(&shop, desc);
    if (status == INGOT_SUCCESS)
        status = prepare_texts(&shop);
    if (status == INGOT_SUCCESS) {
        /* Identifies the devices before the first build, because an identity that is made later may not be that of the
         * compiler that built. A device that cannot be identified only prevents an id. */
        const struct device_identity *identity = NULL;
        if (shop.context->ops.get_binary != NULL && shop.desc->not_cacheable == NULL) {
            for (size_t i = 0; i < shop.desc->device_count; ++i)
                (void)context_get_identity(shop.context, shop.desc->device_indices[i], &identity);
        }
        status = build_native(&shop, &shop.native);
    }
    if (status == INGOT_SUCCESS) {
        status = describe_built(&shop);
        if (status == INGOT_SUCCESS)
            status = finish_program(&shop, false, program);
        else
            shop.context->ops.destroy_program(shop.context->state, shop.native);
    }
    workshop_fini(&shop);
    return status;
}

ingot_status_t ingot_program_desc_visit_request(const_ingot_program_desc_t desc, ingot_build_request_visitor_t visit,
                                                void *user)
{
    struct workshop shop;

    if (desc == NULL || visit == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "desc or visit is NULL");
    ingot_status_t status = workshop_init(&shop, desc);
    if (status == INGOT_SUCCESS)
        status = prepare_texts(&shop);
    if (status == INGOT_SUCCESS) {
        const struct hermetic_request *hermetic = &shop.hermetic;
        const char *refusal = desc->not_cacheable != NULL ? desc->not_cacheable : hermetic->refusal;
        status = refusal != NULL ? error_set(INGOT_NOT_CACHEABLE, "%s", refusal)
                                 : visit(user, hermetic->is_there ? &hermetic->request : &shop.request);
    }
    workshop_fini(&shop);
    return status;
}

/* Reports the first field in which a blob differs from what the descriptor needs, by its name and both digests.
 * `found`: NULL if the blob has none. */
static ingot_status_t tell_difference(ingot_status_t status, const char *field, const uint8_t *expected,
                                      const uint8_t *found)
{
    char of_blob[2 * DIGEST_SIZE + 1] = "nothing";
    char wanted[2 * DIGEST_SIZE + 1] = "";
    hex_put(wanted, DIGEST_SIZE, expected);
    if (found != NULL)
        hex_put(of_blob, DIGEST_SIZE, found);
    return error_set(status, "%s: expected %.16s, the blob has %.16s", field, wanted, of_blob);
}

/* Checks that a valid blob is for this descriptor, and looks up its binary for each class of devices. */
static ingot_status_t match_blob(struct workshop *shop, const struct cache_blob_id *id, size_t *found)
{
    const struct blob_view *blob = &shop->content;
    *found = 0;
    if (memcmp(blob->request_digest, id->request_digest, DIGEST_SIZE) != 0)
        return tell_difference(INGOT_BLOB_MISMATCH, "request", id->request_digest, blob->request_digest);
    if (memcmp(blob->library_digest, id->library_digest, DIGEST_SIZE) != 0)
        return tell_difference(INGOT_BLOB_STALE, "library (backend and rules)", id->library_digest,
                               blob->library_digest);
    ingot_status_t status = device_classes_init(&shop->classes, shop->desc, &shop->arena);
    if (status != INGOT_SUCCESS)
        return status;
    for (size_t i = 0; i < shop->classes.class_count; ++i) {
        struct device_class *class = &shop->classes.classes[i];
        class->binary = blob_find_section(blob, class->identity->digest);
        *found += class->binary.bytes != NULL;
    }
    if (*found != 0)
        return INGOT_SUCCESS;
    /* There is no binary for any device: the first device's identity is compared with that of the first binary. */
    uint64_t size = 0;
    char field[64];
    (void)snprintf(field, sizeof(field), "device[%u] (device, driver and compiler)",
                   (unsigned)shop->classes.classes[0].device);
    return tell_difference(INGOT_BLOB_STALE, field, shop->classes.classes[0].identity->digest,
                           blob->section_count != 0 ? blob_section_at(blob, 0, &size) : NULL);
}

/* Compiles for the devices that the blob has no binaries for. Appends the compiler's output to the blob's log. */
static ingot_status_t compile_for_missing_devices(struct workshop *shop)
{
    struct blob_view *blob = &shop->content;
    bytes_put(&shop->log.writer, blob->log_size, blob->log);
    ingot_status_t status = prepare_texts(shop);
    if (status == INGOT_SUCCESS)
        status = compile_missing_binaries(shop);
    if (status != INGOT_SUCCESS)
        return status;
    blob->log_size = shop->log.writer.size;
    blob->log = (const char *)shop->log.writer.bytes;
    if (blob->build_ns != 0) /* if it is unknown for the blob, the sum is unknown, too */
        blob->build_ns += shop->build_ns;
    return shop->log.writer.failed ? error_out_of_memory() : INGOT_SUCCESS;
}

/* Makes the native program. The other parts of the program are then in shop->content. */
static ingot_status_t load_blob(struct workshop *shop, size_t size, const uint8_t *bytes)
{
    const struct cache_blob_id *id = NULL;
    size_t found = 0;

    if (shop->context->ops.load == NULL)
        return error_set(INGOT_UNIMPLEMENTED, "the backend %s does not provide binaries", shop->context->ops.name);
    ingot_status_t status = cache_blob_id_get(shop->desc, &id);
    if (status == INGOT_SUCCESS)
        status = blob_read(&shop->content, size, bytes);
    if (status == INGOT_SUCCESS)
        status = match_blob(shop, id, &found);
    if (status == INGOT_SUCCESS && found < shop->classes.class_count)
        status = compile_for_missing_devices(shop);
    return status == INGOT_SUCCESS ? load_binaries(shop, &shop->native) : status;
}

/* Loads the program if `program` is not NULL, and otherwise only the native program. */
static ingot_status_t load_program(ingot_program_t *program, void **native, const struct ingot_program_desc *desc,
                                   size_t size, const uint8_t *cache_blob)
{
    struct workshop shop;
    struct ingot_context *context = desc->context;
    const uint64_t start = trace_wanted(&context->trace) ? nanoseconds_of(CLOCK_MONOTONIC) : 0;
    ingot_status_t status = workshop_init(&shop, desc);
    if (status == INGOT_SUCCESS)
        status = load_blob(&shop, size, cache_blob);
    if (status == INGOT_SUCCESS && program != NULL)
        status = finish_program(&shop, true, program);
    else if (status == INGOT_SUCCESS)
        *native = shop.native;
    workshop_fini(&shop);
    context_count(status == INGOT_SUCCESS ? &context->counters.loads : &context->counters.load_failures);
    if (status == INGOT_SUCCESS && context->trace.counted != NULL)
        ingot_metrics_add(INGOT_METRIC_SAVED_NS, context->trace.counted, "program", NULL, shop.content.build_ns);
    program_emit(desc, INGOT_EVENT_LOAD, status, start, size, status != INGOT_SUCCESS ? ingot_last_error_detail() : "");
    return status;
}

ingot_status_t ingot_program_load(ingot_program_t *program, const_ingot_program_desc_t desc, size_t size,
                                  const uint8_t *cache_blob)
{
    return load_program(program, NULL, desc, size, cache_blob);
}

ingot_status_t ingot_program_load_native(void **native, const_ingot_program_desc_t desc, size_t size,
                                         const uint8_t *cache_blob)
{
    return load_program(NULL, native, desc, size, cache_blob);
}

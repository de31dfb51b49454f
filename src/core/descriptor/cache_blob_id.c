/*
 * cache_blob_id.c - writes the ids of descriptors, and reads ids; see program_desc.h and doc/blob-format.md.
 */
#include "core/descriptor/program_desc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/descriptor/cache_blob_id_format.h"
#include "core/descriptor/request.h"

/* ---- writing ---- */

static int compare_identities(const void *a, const void *b)
{
    const struct device_identity *left = *(const struct device_identity *const *)a;
    const struct device_identity *right = *(const struct device_identity *const *)b;
    return memcmp(left->digest, right->digest, DIGEST_SIZE);
}

/* Appends each distinct device identity, sorted by digest, so that the id does not depend on the order of the devices
 * or on how many of them are equal. */
static ingot_status_t put_devices(struct bytes_writer *out, const struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    const size_t size = desc->device_count * sizeof(struct device_identity *);
    const struct device_identity **identities = memory_allocate(allocator, size);
    ingot_status_t status = INGOT_SUCCESS;
    size_t count = 0;

    if (identities == NULL)
        return error_out_of_memory();
    for (size_t i = 0; status == INGOT_SUCCESS && i < desc->device_count; ++i)
        status = context_get_identity(desc->context, desc->device_indices[i], &identities[i]);
    if (status == INGOT_SUCCESS) {
        qsort(identities, desc->device_count, sizeof(*identities), compare_identities);
        for (size_t i = 0; i < desc->device_count; ++i) {
            if (i == 0 || compare_identities(&identities[i], &identities[i - 1]) != 0)
                identities[count++] = identities[i];
        }
        bytes_put_u32(out, (uint32_t)count);
        for (size_t i = 0; i < count; ++i)
            bytes_put_framed(out, identities[i]->size, identities[i]->bytes);
    }
    memory_free(allocator, identities, size);
    return status;
}

/* Writes everything before the devices. Returns where the library begins, which is the rules and the backend. */
static size_t put_head(struct bytes_writer *out, const struct ingot_context *context)
{
    bytes_put(out, ENTRY_MAGIC_SIZE, ENTRY_RESULT_MAGIC);
    bytes_put_u32(out, ID_FORMAT_VERSION);
    const size_t library = out->size;
    bytes_put_framed_text(out, ID_RULES);
    bytes_put_framed_text(out, context->ops.name);
    return library;
}

static ingot_status_t create_blob_id(const struct ingot_program_desc *desc, struct cache_blob_id **id)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    struct cache_blob_id *made = memory_allocate_zeroed(allocator, sizeof(*made));
    struct bytes_writer out;

    if (made == NULL)
        return error_out_of_memory();
    bytes_writer_init(&out, allocator);
    const size_t library = put_head(&out, desc->context);
    const size_t library_end = out.size;
    ingot_status_t status = put_devices(&out, desc);
    const size_t request = out.size;
    if (status == INGOT_SUCCESS)
        status = desc_request_write(&out, desc);
    if (status == INGOT_SUCCESS && !out.failed) {
        digest_of(library_end - library, out.bytes + library, made->library_digest);
        digest_of(out.size - request, out.bytes + request, made->request_digest);
        made->bytes = bytes_take(&out, &made->size);
    }
    bytes_writer_fini(&out);
    if (made->bytes != NULL) {
        *id = made;
        return INGOT_SUCCESS;
    }
    cache_blob_id_destroy(made, allocator);
    return status != INGOT_SUCCESS ? status : error_out_of_memory();
}

void cache_blob_id_destroy(struct cache_blob_id *id, const ingot_allocator_t *allocator)
{
    if (id == NULL)
        return;
    memory_free(allocator, id->bytes, id->size);
    memory_free(allocator, id, sizeof(*id));
}

ingot_status_t cache_blob_id_get(const struct ingot_program_desc *desc, const struct cache_blob_id **id)
{
    /* descriptors are never const objects, because all are on the heap */
    struct ingot_program_desc *shared = (struct ingot_program_desc *)desc;
    struct cache_blob_id *known = atomic_load_explicit(&shared->id, memory_order_acquire);

    if (desc->not_cacheable != NULL)
        return error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
    if (known == NULL) {
        struct cache_blob_id *made = NULL;
        const ingot_status_t status = create_blob_id(desc, &made);
        if (status != INGOT_SUCCESS)
            return status;
        /* Several threads may make the id at once. All make the same bytes, and those of the first thread are kept. The
         * release pairs with the acquires, here and above. */
        if (atomic_compare_exchange_strong_explicit(&shared->id, &known, made, memory_order_acq_rel,
                                                    memory_order_acquire))
            known = made;
        else
            cache_blob_id_destroy(made, &desc->context->allocator);
    }
    *id = known;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_program_desc_get_cache_blob_id(const_ingot_program_desc_t desc, size_t *size, const uint8_t **id)
{
    const struct cache_blob_id *known = NULL;

    if (desc == NULL || size == NULL || id == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "desc, size or id is NULL");
    const ingot_status_t status = cache_blob_id_get(desc, &known);
    if (status == INGOT_SUCCESS) {
        *size = known->size;
        *id = known->bytes;
    }
    return status;
}

ingot_status_t ingot_program_desc_get_request_digest(const_ingot_program_desc_t desc, uint8_t *digest)
{
    const struct cache_blob_id *known = NULL;

    const ingot_status_t status = cache_blob_id_get(desc, &known);
    if (status == INGOT_SUCCESS)
        memcpy(digest, known->request_digest, DIGEST_SIZE);
    return status;
}

/* ---- reading ---- */

/* The parts of an id. */
struct id_parts {
    const uint8_t *rules;
    size_t rules_size;
    const uint8_t *backend;
    size_t backend_size;
    uint32_t device_count;
    struct bytes_reader devices; /* at the first device; each is framed */
    struct request request;
};

/* Visits a device's values, whose paths end with their names. A name that is too long for a path is cut off, but its
 * value is still visited. Only checks the identity if `visit` is NULL. */
static bool visit_device(struct bytes_reader *devices, uint32_t number, ingot_cache_blob_id_visit_t visit, void *user)
{
    struct bytes_reader device;
    size_t size = 0;
    const uint8_t *identity = bytes_get_framed(devices, &size);
    bytes_reader_init(&device, size, identity);
    while (bytes_left(&device) != 0) {
        char path[192];
        size_t name_size = 0;
        size_t value_size = 0;
        const uint8_t *name = bytes_get_framed(&device, &name_size);
        const uint8_t *value = bytes_get_framed(&device, &value_size);
        if (device.failed)
            return false;
        (void)snprintf(path, sizeof(path), "device[%" PRIu32 "].%.*s", number, name_size < 128 ? (int)name_size : 128,
                       (const char *)name);
        if (visit != NULL)
            visit(user, path, value_size, value, true);
    }
    return !devices->failed;
}

static ingot_status_t read_id(struct id_parts *parts, struct arena *arena, size_t size, const uint8_t *id)
{
    struct bytes_reader reader;
    bytes_reader_init(&reader, size, id);
    const uint8_t *magic = bytes_get(&reader, ENTRY_MAGIC_SIZE);
    const uint32_t version = bytes_get_u32(&reader);
    if (magic != NULL && entry_kind_of(size, id) != ENTRY_RESULT)
        return error_set(INGOT_BLOB_CORRUPT, "these bytes are not a cache blob id");
    if (!reader.failed && version != ID_FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION, "a cache blob id has the unknown format version %" PRIu32, version);
    parts->rules = bytes_get_framed(&reader, &parts->rules_size);
    parts->backend = bytes_get_framed(&reader, &parts->backend_size);
    parts->device_count = bytes_get_u32(&reader);
    parts->devices = reader;
    bool is_good = true;
    for (uint32_t i = 0; i < parts->device_count && is_good && !reader.failed; ++i)
        is_good = visit_device(&reader, i, NULL, NULL);
    if (reader.failed)
        return error_set(INGOT_BLOB_TRUNCATED, "a cache blob id of %zu bytes ends too early", size);
    if (!is_good)
        return error_set(INGOT_BLOB_CORRUPT, "a cache blob id has a malformed device");
    return request_read(&parts->request, REQUEST_OF_DIGESTS, arena, bytes_left(&reader), id + reader.offset);
}

ingot_status_t cache_blob_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user)
{
    struct id_parts parts;
    struct arena arena;
    uint8_t digest[DIGEST_SIZE];

    arena_init(&arena, &memory_c_allocator);
    ingot_status_t status = read_id(&parts, &arena, size, id);
    if (status == INGOT_SUCCESS && !request_digest(&parts.request, arena.allocator, digest))
        status = error_out_of_memory();
    if (status == INGOT_SUCCESS) {
        visit(user, "library", parts.rules_size, parts.rules, true);
        visit(user, "backend", parts.backend_size, parts.backend, true);
        for (uint32_t i = 0; i < parts.device_count; ++i)
            (void)visit_device(&parts.devices, i, visit, user);
        request_visit(&parts.request, visit, user);
        visit(user, "request.blake2b", DIGEST_SIZE, digest, false);
    }
    arena_fini(&arena);
    return status;
}

ingot_status_t ingot_cache_blob_id_move(ingot_context_t context, size_t size, const uint8_t *id, size_t *moved_size,
                                        uint8_t *moved)
{
    struct id_parts parts;
    struct arena arena;
    struct bytes_writer out;
    const struct device_identity *identity = NULL;

    const char *backend = context->ops.name;
    arena_init(&arena, &memory_c_allocator);
    bytes_writer_init(&out, &memory_c_allocator);
    ingot_status_t status = read_id(&parts, &arena, size, id);
    if (status == INGOT_SUCCESS &&
        (parts.backend_size != strlen(backend) || memcmp(parts.backend, backend, parts.backend_size) != 0))
        status = error_set(INGOT_BLOB_MISMATCH, "the id is for another backend than %s", backend);
    if (status == INGOT_SUCCESS)
        status = context_get_identity(context, 0, &identity);
    if (status == INGOT_SUCCESS) {
        (void)put_head(&out, context);
        bytes_put_u32(&out, 1);
        bytes_put_framed(&out, identity->size, identity->bytes);
        for (uint32_t i = 0; i < parts.device_count; ++i)
            (void)visit_device(&parts.devices, i, NULL, NULL);
        bytes_put(&out, bytes_left(&parts.devices), id + size - bytes_left(&parts.devices));
        status = out.failed ? error_out_of_memory() : bytes_copy_out(out.size, out.bytes, moved_size, moved);
    }
    bytes_writer_fini(&out);
    arena_fini(&arena);
    return status;
}

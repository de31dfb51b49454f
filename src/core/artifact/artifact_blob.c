/*
 * artifact_blob.c - writes and reads the envelopes of artifacts, and takes artifacts out of them; see artifact_blob.h
 * and doc/artifact-format.md.
 *
 * Nothing is allocated by a number from an envelope before that number was compared with the envelope's size.
 */
#include "core/artifact/artifact_blob.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/artifact/artifact_id.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#define MAGIC "INGOTART"

enum {
    MAGIC_SIZE = 8,
    FORMAT_VERSION = 1,
    AT_TOTAL_SIZE = MAGIC_SIZE + 4 + 4,
    HEADER_SIZE = AT_TOTAL_SIZE + 4 * 8 + DIGEST_SIZE,
    CHECKSUM_SIZE = 16,
    MAX_PARTS = 65536,
    MAX_NAME_SIZE = 255,
    MAX_LABEL_SIZE = 1023
};

/* ---- writing ---- */

static ingot_status_t check_parts(const ingot_artifact_info_t *info, size_t size)
{
    uint64_t left = size;
    if (info->part_count > MAX_PARTS || (info->part_count != 0 && info->parts == NULL))
        return error_set(INGOT_INVALID_ARGUMENTS, "info.parts is NULL, or has %zu parts, more than %d",
                         info->part_count, MAX_PARTS);
    for (size_t i = 0; i < info->part_count; ++i) {
        const ingot_artifact_part_t *part = &info->parts[i];
        if (part->name == NULL || strnlen(part->name, MAX_NAME_SIZE + 1) > MAX_NAME_SIZE)
            return error_set(INGOT_INVALID_ARGUMENTS, "the name of info.parts[%zu] is NULL or longer than %d bytes", i,
                             MAX_NAME_SIZE);
        if (part->size > left)
            return error_set(INGOT_INVALID_ARGUMENTS, "info.parts are larger than the artifact, which has %zu bytes",
                             size);
        left -= part->size;
    }
    if (info->part_count != 0 && left != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "info.parts are smaller than the artifact, which has %zu bytes",
                         size);
    /* Equal names are refused, because a reader could not tell parts apart. Old versions stored such values. */
    if (info->part_count < 2)
        return INGOT_SUCCESS;
    const char **names = malloc(info->part_count * sizeof(*names));
    const char *twice = NULL;
    if (names == NULL)
        return error_set(INGOT_OUT_OF_MEMORY, "no memory for the names of an artifact's parts");
    for (size_t i = 0; i < info->part_count; ++i)
        names[i] = info->parts[i].name;
    texts_sort(info->part_count, names);
    for (size_t i = 1; i < info->part_count && twice == NULL; ++i)
        twice = strcmp(names[i - 1], names[i]) == 0 ? names[i] : NULL;
    free(names);
    return twice == NULL ? INGOT_SUCCESS
                         : error_set(INGOT_INVALID_ARGUMENTS, "info.parts has the name \"%.80s\" twice", twice);
}

static void put_terminated(struct bytes_writer *writer, const char *text)
{
    bytes_put(writer, strlen(text) + 1, text);
}

static void write_artifact_envelope(struct bytes_writer *writer, const char *kind, const uint8_t id_digest[DIGEST_SIZE],
                                    const ingot_artifact_info_t *info, size_t size, const void *bytes)
{
    size_t texts_size = strlen(kind) + 1 + strlen(info->label) + 1;
    for (size_t i = 0; i < info->part_count; ++i)
        texts_size += strlen(info->parts[i].name) + 1;
    const size_t sizes_size = info->part_count * 8;
    if (size > SIZE_MAX / 2) { /* the sum below cannot overflow */
        writer->failed = true;
        return;
    }
    const size_t total_size = HEADER_SIZE + sizes_size + texts_size + size + CHECKSUM_SIZE;
    if (bytes_reserve(writer, total_size) == NULL) /* one allocation, of exactly this size */
        return;
    writer->size = 0;
    bytes_put(writer, MAGIC_SIZE, MAGIC);
    bytes_put_u32(writer, FORMAT_VERSION);
    bytes_put_u32(writer, (uint32_t)info->part_count);
    bytes_put_u64(writer, total_size);
    bytes_put_u64(writer, texts_size);
    bytes_put_u64(writer, info->make_time_ms);
    bytes_put_u64(writer, info->made_at_unix_ms);
    bytes_put(writer, DIGEST_SIZE, id_digest);
    for (size_t i = 0; i < info->part_count; ++i)
        bytes_put_u64(writer, info->parts[i].size);
    put_terminated(writer, kind);
    put_terminated(writer, info->label);
    for (size_t i = 0; i < info->part_count; ++i)
        put_terminated(writer, info->parts[i].name);
    bytes_put(writer, size, bytes);
    const struct hash128 checksum = hash128_of(writer->size, writer->bytes);
    bytes_put_u64(writer, checksum.low);
    bytes_put_u64(writer, checksum.high);
}

ingot_status_t ingot_artifact_pack(size_t id_size, const uint8_t *id, const ingot_artifact_info_t *info, size_t size,
                                   const void *bytes, ingot_buffer_t *blob)
{
    struct bytes_writer writer;
    ingot_artifact_info_t known = {.struct_size = sizeof(known)};
    const ingot_artifact_part_t whole = {"", size};
    char kind[ARTIFACT_MAX_KIND_SIZE + 1];
    uint8_t id_digest[DIGEST_SIZE];
    if (id == NULL || blob == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "id or blob is NULL");
    ingot_status_t status = artifact_id_read_kind(id_size, id, kind);
    if (status != INGOT_SUCCESS)
        return status;
    if (info != NULL && !STRUCT_READ_OVER(known, info))
        return error_set(INGOT_INVALID_ARGUMENTS, "info's struct_size is not set");
    if (bytes == NULL && size != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "bytes is NULL");
    if (known.label == NULL)
        known.label = "";
    if (strnlen(known.label, MAX_LABEL_SIZE + 1) > MAX_LABEL_SIZE)
        return error_set(INGOT_INVALID_ARGUMENTS, "info.label is longer than %d bytes", MAX_LABEL_SIZE);
    status = check_parts(&known, size);
    if (status != INGOT_SUCCESS)
        return status;
    if (known.part_count == 0) {
        known.part_count = 1;
        known.parts = &whole;
    }
    if (known.made_at_unix_ms == 0)
        known.made_at_unix_ms = nanoseconds_of(CLOCK_REALTIME) / NS_PER_MS;
    digest_of(id_size, id, id_digest);
    bytes_writer_init(&writer, &memory_c_allocator);
    write_artifact_envelope(&writer, kind, id_digest, &known, size, bytes);
    if (writer.failed) {
        bytes_writer_fini(&writer);
        return error_out_of_memory();
    }
    bytes_take_buffer(&writer, blob);
    return INGOT_SUCCESS;
}

/* ---- reading ---- */

bool artifact_blob_is(size_t size, const uint8_t *blob)
{
    return size >= MAGIC_SIZE && memcmp(blob, MAGIC, MAGIC_SIZE) == 0;
}

static ingot_status_t fail_envelope_truncated(size_t size)
{
    return error_set(INGOT_BLOB_TRUNCATED, "the artifact's envelope has %zu bytes, fewer than its header says", size);
}

static ingot_status_t fail_envelope_corrupt(const char *what)
{
    return error_set(INGOT_BLOB_CORRUPT, "the artifact's envelope is corrupt: %s", what);
}

/* Checks the magic, the version, the total size and the checksum. Leaves the reader after the total size, and makes it
 * end before the checksum. */
static ingot_status_t check_envelope_frame(struct bytes_reader *reader, struct artifact_view *view, size_t size,
                                           const uint8_t *blob)
{
    bytes_reader_init(reader, size, blob);
    const uint8_t *magic = bytes_get(reader, MAGIC_SIZE);
    if (magic == NULL)
        return fail_envelope_truncated(size);
    if (memcmp(magic, MAGIC, MAGIC_SIZE) != 0)
        return fail_envelope_corrupt("it does not begin with an artifact's magic number");
    const uint32_t version = bytes_get_u32(reader);
    if (!reader->failed && version != FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION,
                         "an artifact's envelope of format version %" PRIu32 "; this library reads %d", version,
                         FORMAT_VERSION);
    view->part_count = bytes_get_u32(reader);
    const uint64_t total_size = bytes_get_u64(reader);
    if (reader->failed || total_size > size)
        return fail_envelope_truncated(size);
    if (total_size != size || size < HEADER_SIZE + CHECKSUM_SIZE)
        return fail_envelope_corrupt("its size differs from the size in its header");
    const size_t covered = size - CHECKSUM_SIZE;
    const struct hash128 checksum = hash128_of(covered, blob);
    if (le_get_u64(blob + covered) != checksum.low || le_get_u64(blob + covered + 8) != checksum.high)
        return fail_envelope_corrupt("its checksum does not match");
    reader->size = covered;
    return INGOT_SUCCESS;
}

/* Returns the next text and its NUL, or NULL if it does not end or is longer than max_size. */
static const char *read_envelope_text(struct bytes_reader *texts, size_t max_size)
{
    const size_t left = bytes_left(texts);
    const char *text = (const char *)texts->bytes + texts->offset;
    const size_t size = strnlen(text, left < max_size + 1 ? left : max_size + 1);
    if (size >= left || size > max_size) {
        texts->failed = true;
        return NULL;
    }
    return (const char *)bytes_get(texts, size + 1);
}

ingot_status_t artifact_blob_read(struct artifact_view *view, size_t size, const uint8_t *blob)
{
    struct bytes_reader reader;
    memset(view, 0, sizeof(*view));
    ingot_status_t status = check_envelope_frame(&reader, view, size, blob);
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t texts_size = bytes_get_u64(&reader);
    view->make_time_ms = bytes_get_u64(&reader);
    view->made_at_unix_ms = bytes_get_u64(&reader);
    view->id_digest = bytes_get(&reader, DIGEST_SIZE);
    if (view->part_count == 0 || view->part_count > MAX_PARTS || view->part_count > bytes_left(&reader) / 8)
        return fail_envelope_corrupt("it has no parts, or too many");
    view->part_sizes = bytes_get(&reader, (size_t)view->part_count * 8);
    if (texts_size > bytes_left(&reader))
        return fail_envelope_corrupt("its texts are larger than the envelope");
    struct bytes_reader texts;
    bytes_reader_init(&texts, (size_t)texts_size, bytes_get(&reader, (size_t)texts_size));
    view->kind = read_envelope_text(&texts, ARTIFACT_MAX_KIND_SIZE);
    view->label = read_envelope_text(&texts, MAX_LABEL_SIZE);
    view->part_names = (const char *)texts.bytes + texts.offset;
    for (uint32_t i = 0; i < view->part_count && !texts.failed; ++i)
        (void)read_envelope_text(&texts, MAX_NAME_SIZE);
    if (texts.failed || texts.offset != texts.size || !artifact_id_is_kind(strlen(view->kind), view->kind))
        return fail_envelope_corrupt("its texts do not fit");
    view->size = bytes_left(&reader);
    view->bytes = bytes_get(&reader, view->size);
    uint64_t left = view->size;
    for (uint32_t i = 0; status == INGOT_SUCCESS && i < view->part_count; ++i) {
        const uint64_t part_size = artifact_blob_part_size(view, i);
        if (part_size > left)
            status = fail_envelope_corrupt("its parts are larger than the envelope");
        left -= part_size;
    }
    if (status == INGOT_SUCCESS && left != 0)
        status = fail_envelope_corrupt("it has bytes after its last part");
    return status;
}

uint64_t artifact_blob_part_size(const struct artifact_view *view, uint32_t index)
{
    return le_get_u64(view->part_sizes + (size_t)index * 8);
}

/* ---- values ---- */

/* Owns the buffer of its envelope. */
struct value {
    ingot_buffer_t blob;
    ingot_artifact_info_t info; /* points into the blob and to `parts` */
    ingot_artifact_part_t parts[];
};

static void release_value(ingot_buffer_t *buffer)
{
    struct value *value = buffer->owner;
    if (value->blob.release != NULL)
        value->blob.release(&value->blob);
    free(value);
    *buffer = (ingot_buffer_t)INGOT_BUFFER_INIT;
}

ingot_status_t ingot_artifact_unpack(size_t id_size, const uint8_t *id, ingot_buffer_t *blob, ingot_buffer_t *value)
{
    struct artifact_view view;
    uint8_t digest[DIGEST_SIZE];
    if (id == NULL || blob == NULL || value == NULL || (blob->bytes == NULL && blob->size != 0))
        return error_set(INGOT_INVALID_ARGUMENTS, "id, blob or value is NULL");
    const ingot_status_t status = artifact_blob_read(&view, blob->size, blob->bytes);
    if (status != INGOT_SUCCESS)
        return status;
    digest_of(id_size, id, digest);
    if (memcmp(digest, view.id_digest, DIGEST_SIZE) != 0)
        return error_set(INGOT_BLOB_MISMATCH, "the envelope is that of another artifact");
    struct value *made = malloc(sizeof(*made) + view.part_count * sizeof(made->parts[0]));
    if (made == NULL)
        return error_out_of_memory();
    const char *name = view.part_names;
    for (uint32_t i = 0; i < view.part_count; ++i) {
        made->parts[i] = (ingot_artifact_part_t){name, artifact_blob_part_size(&view, i)};
        name += strlen(name) + 1;
    }
    made->info = (ingot_artifact_info_t){
        .struct_size = sizeof(made->info),
        .label = view.label,
        .make_time_ms = view.make_time_ms,
        .part_count = view.part_count,
        .parts = made->parts,
        .kind = view.kind,
        .made_at_unix_ms = view.made_at_unix_ms,
    };
    made->blob = *blob;
    *blob = (ingot_buffer_t)INGOT_BUFFER_INIT;
    *value = (ingot_buffer_t){view.size, view.bytes, release_value, made};
    return INGOT_SUCCESS;
}

ingot_status_t ingot_artifact_get_info(const ingot_buffer_t *value, ingot_artifact_info_t *info)
{
    if (value == NULL || value->release != release_value)
        return error_set(INGOT_INVALID_ARGUMENTS, "value is NULL, or is not the value of an artifact");
    if (!STRUCT_WRITE(info, ((const struct value *)value->owner)->info))
        return error_set(INGOT_INVALID_ARGUMENTS, "info is NULL, or its struct_size is not set");
    return INGOT_SUCCESS;
}

/*
 * artifact_id.c - writes and reads the ids of artifacts; see artifact_id.h and doc/artifact-format.md.
 *
 * The fields are sorted by name, so keys that list the same fields in another order have the same id.
 */
#include "core/artifact/artifact_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "util/entry_kind.h"
#include "util/struct_size.h"

enum {
    FORMAT_VERSION = 1,
    MAX_NAME_SIZE = 255,
    MAX_FIELDS = 256,
    MAX_VALUE_SIZE = 256, /* longer values are represented by their digests */
    MAX_ID_SIZE = 64 * 1024,
    PATH_CAPACITY = MAX_NAME_SIZE + 32
};

#define KIND_PATH "artifact"

/* The form of a field's value. */
enum form { FORM_VALUE = 0, FORM_DIGEST = 1 };

/* ---- writing ---- */

bool artifact_id_is_kind(size_t size, const char *kind)
{
    for (size_t i = 0; i < size; ++i) {
        const char c = kind[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '.' && c != '_' &&
            c != '-')
            return false;
    }
    return size >= 1 && size <= ARTIFACT_MAX_KIND_SIZE;
}

static int compare_field_names(const void *a, const void *b)
{
    return strcmp((*(const ingot_artifact_field_t *const *)a)->name, (*(const ingot_artifact_field_t *const *)b)->name);
}

/* Appends the fields in the order of their names. */
static ingot_status_t put_artifact_fields(struct bytes_writer *writer, const ingot_artifact_key_t *key)
{
    const ingot_artifact_field_t *sorted[MAX_FIELDS];
    for (size_t i = 0; i < key->field_count; ++i)
        sorted[i] = &key->fields[i];
    if (key->field_count > 1)
        qsort(sorted, key->field_count, sizeof(sorted[0]), compare_field_names);
    for (size_t i = 0; i < key->field_count; ++i) {
        if (i != 0 && strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            return error_set(INGOT_INVALID_ARGUMENTS, "the key has two fields with the name \"%s\"", sorted[i]->name);
        uint8_t digest[DIGEST_SIZE];
        bytes_put_framed_text(writer, sorted[i]->name);
        if (sorted[i]->size <= MAX_VALUE_SIZE) {
            bytes_put_u32(writer, FORM_VALUE);
            bytes_put_framed(writer, sorted[i]->size, sorted[i]->value);
        } else {
            digest_of(sorted[i]->size, sorted[i]->value, digest);
            bytes_put_u32(writer, FORM_DIGEST);
            bytes_put_framed(writer, DIGEST_SIZE, digest);
        }
    }
    return INGOT_SUCCESS;
}

ingot_status_t artifact_id_write(struct bytes_writer *writer, const ingot_artifact_key_t *key)
{
    ingot_artifact_key_t known;
    const size_t start = writer->size;
    if (!STRUCT_READ(known, key))
        return error_set(INGOT_INVALID_ARGUMENTS, "key is NULL, or its struct_size is not set");
    if (known.kind == NULL || !artifact_id_is_kind(strnlen(known.kind, ARTIFACT_MAX_KIND_SIZE + 1), known.kind))
        return error_set(INGOT_INVALID_ARGUMENTS, "key.kind is not 1 to %u of [A-Za-z0-9._-]", ARTIFACT_MAX_KIND_SIZE);
    if (known.field_count > MAX_FIELDS || (known.fields == NULL && known.field_count != 0))
        return error_set(INGOT_INVALID_ARGUMENTS, "key.fields is NULL, or has %zu fields, more than %d",
                         known.field_count, MAX_FIELDS);
    for (size_t i = 0; i < known.field_count; ++i) {
        const ingot_artifact_field_t *field = &known.fields[i];
        const size_t name_size = field->name != NULL ? strnlen(field->name, MAX_NAME_SIZE + 1) : 0;
        if (name_size == 0 || name_size > MAX_NAME_SIZE)
            return error_set(INGOT_INVALID_ARGUMENTS, "the name of key.fields[%zu] is not 1 to %d bytes", i,
                             MAX_NAME_SIZE);
        if (field->value == NULL && field->size != 0)
            return error_set(INGOT_INVALID_ARGUMENTS, "the value of the key's field \"%s\" is NULL", field->name);
    }
    bytes_put(writer, ENTRY_MAGIC_SIZE, ENTRY_ARTIFACT_MAGIC);
    bytes_put_u32(writer, FORMAT_VERSION);
    bytes_put_framed_text(writer, known.kind);
    const ingot_status_t status = put_artifact_fields(writer, &known);
    if (status != INGOT_SUCCESS)
        return status;
    if (writer->failed)
        return error_out_of_memory();
    if (writer->size - start > MAX_ID_SIZE)
        return error_set(INGOT_INVALID_ARGUMENTS, "the key's id would have %zu bytes, more than %d",
                         writer->size - start, MAX_ID_SIZE);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_artifact_key_get_id(const ingot_artifact_key_t *key, size_t *id_size, uint8_t *id)
{
    struct bytes_writer writer;
    if (id_size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "id_size is NULL");
    bytes_writer_init(&writer, &memory_c_allocator);
    ingot_status_t status = artifact_id_write(&writer, key);
    if (status == INGOT_SUCCESS) {
        status = bytes_copy_out(writer.size, writer.bytes, id_size, id);
        if (status != INGOT_SUCCESS)
            (void)error_set(status, "the id needs %zu bytes", writer.size);
    }
    bytes_writer_fini(&writer);
    return status;
}

/* ---- reading ---- */

/* True if people can read the value. UTF-8 is not checked. */
static bool is_printable(size_t size, const uint8_t *value)
{
    for (size_t i = 0; i < size; ++i)
        if ((value[i] < 0x20 && value[i] != '\n' && value[i] != '\t') || value[i] == 0x7f)
            return false;
    return true;
}

/* Orders two names as strcmp would if they ended in NUL. */
static int order_names(size_t a_size, const uint8_t *a, size_t b_size, const uint8_t *b)
{
    const size_t common = a_size < b_size ? a_size : b_size;
    const int found = common != 0 ? memcmp(a, b, common) : 0;
    return found != 0 ? found : (a_size > b_size) - (a_size < b_size);
}

struct name {
    size_t size;
    const uint8_t *bytes;
};

/* Reads and visits a field, whose name must come after `last`. Returns false if the field is malformed. */
static bool read_named_field(struct bytes_reader *reader, struct name *last, ingot_cache_blob_id_visit_t visit,
                             void *user)
{
    char path[PATH_CAPACITY];
    struct name name;
    size_t size = 0;
    name.bytes = bytes_get_framed(reader, &name.size);
    const uint32_t form = bytes_get_u32(reader);
    const uint8_t *value = bytes_get_framed(reader, &size);
    if (reader->failed)
        return true; /* the caller reports that the id ends too early */
    const bool is_size_valid = form == FORM_DIGEST ? size == DIGEST_SIZE : size <= MAX_VALUE_SIZE;
    if (name.size == 0 || name.size > MAX_NAME_SIZE || memchr(name.bytes, '\0', name.size) != NULL ||
        (last->bytes != NULL && order_names(last->size, last->bytes, name.size, name.bytes) >= 0) ||
        form > FORM_DIGEST || !is_size_valid)
        return false;
    *last = name;
    (void)snprintf(path, sizeof(path), "key.%.*s%s", (int)name.size, (const char *)name.bytes,
                   form == FORM_DIGEST ? ".blake2b" : "");
    if (visit != NULL)
        visit(user, path, size, value, form == FORM_VALUE && is_printable(size, value));
    return true;
}

static ingot_status_t fail_truncated_artifact_id(size_t size)
{
    return error_set(INGOT_BLOB_TRUNCATED, "an artifact's id of %zu bytes ends too early", size);
}

ingot_status_t artifact_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user)
{
    struct bytes_reader reader;
    struct name last = {0, NULL};
    size_t kind_size = 0;
    size_t count = 0;
    bytes_reader_init(&reader, size, id);
    const uint8_t *magic = bytes_get(&reader, ENTRY_MAGIC_SIZE);
    const uint32_t version = bytes_get_u32(&reader);
    if (magic != NULL && memcmp(magic, ENTRY_ARTIFACT_MAGIC, ENTRY_MAGIC_SIZE) != 0)
        return error_set(INGOT_BLOB_CORRUPT, "these bytes are not the id of an artifact");
    if (reader.failed)
        return fail_truncated_artifact_id(size);
    if (version != FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION, "an artifact's id has the unknown format version %" PRIu32, version);
    const uint8_t *kind = bytes_get_framed(&reader, &kind_size);
    if (reader.failed)
        return fail_truncated_artifact_id(size);
    if (!artifact_id_is_kind(kind_size, (const char *)kind) || size > MAX_ID_SIZE)
        return error_set(INGOT_BLOB_CORRUPT, "an artifact's id has a malformed kind, or is too long");
    if (visit != NULL)
        visit(user, KIND_PATH, kind_size, kind, true);
    for (; bytes_left(&reader) != 0; ++count)
        if (!read_named_field(&reader, &last, visit, user) || count == MAX_FIELDS)
            return error_set(INGOT_BLOB_CORRUPT, "an artifact's id has a malformed field");
    return reader.failed ? fail_truncated_artifact_id(size) : INGOT_SUCCESS;
}

/* Copies the kind to `user`, which was zeroed before. */
static void note_kind(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    (void)is_text;
    if (strcmp(path, KIND_PATH) == 0)
        memcpy(user, value, size); /* the reader has checked the size */
}

ingot_status_t artifact_id_read_kind(size_t size, const uint8_t *id, char kind[ARTIFACT_MAX_KIND_SIZE + 1])
{
    memset(kind, 0, ARTIFACT_MAX_KIND_SIZE + 1);
    return artifact_id_visit(size, id, note_kind, kind);
}

/*
 * cache_blob_id_read.c - walking the fields of an id that may come from anywhere.
 *
 * Every length is checked by the reader; nothing is allocated. Fields get a path for people: repeated ones an index.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/descriptor/cache_blob_id.h"
#include "core/descriptor/cache_blob_id_format.h"

enum { PATH_CAPACITY = 256 };

struct walk {
    cache_blob_id_visitor visit;
    void *user;
    unsigned count[ID_LAST + 1]; /* of each tag so far */
};

static void visit_text(struct walk *walk, const char *path, size_t size, const uint8_t *value)
{
    walk->visit(walk->user, path, size, value, true);
}

static void visit_word(struct walk *walk, const char *path, const char *word)
{
    visit_text(walk, path, strlen(word), (const uint8_t *)word);
}

/* Names are stable words; one that is too long for a path is cut, its value is still visited. */
static void read_device(struct walk *walk, unsigned index, struct bytes_reader *field)
{
    char path[PATH_CAPACITY];

    while (bytes_left(field) != 0) {
        size_t name_size = 0;
        size_t value_size = 0;
        const uint8_t *name = bytes_get_framed(field, &name_size);
        const uint8_t *value = bytes_get_framed(field, &value_size);
        if (field->failed)
            return;
        const int shown = name_size < 128 ? (int)name_size : 128;
        snprintf(path, sizeof(path), "device[%u].%.*s", index, shown, (const char *)name);
        visit_text(walk, path, value_size, value);
    }
}

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case INGOT_SOURCE_OPENCL_C: return "opencl_c";
    case INGOT_SOURCE_SPIRV: return "spirv";
    case INGOT_SOURCE_CUDA_CPP: return "cuda_cpp";
    case INGOT_SOURCE_PTX: return "ptx";
    default: return NULL; /* a backend's own */
    }
}

static void read_source(struct walk *walk, unsigned index, struct bytes_reader *field)
{
    char path[PATH_CAPACITY];
    const uint8_t *kind_bytes = field->bytes;
    const char *kind = kind_name(bytes_get_u32(field));
    const uint8_t *digest = bytes_get(field, DIGEST_SIZE);

    if (field->failed)
        return;
    snprintf(path, sizeof(path), "source[%u].kind", index);
    if (kind != NULL)
        visit_word(walk, path, kind);
    else
        walk->visit(walk->user, path, 4, kind_bytes, false);
    snprintf(path, sizeof(path), "source[%u].blake2b", index);
    walk->visit(walk->user, path, DIGEST_SIZE, digest, false);
}

static void read_header(struct walk *walk, unsigned index, struct bytes_reader *field)
{
    char path[PATH_CAPACITY];
    size_t name_size = 0;
    const uint8_t *name = bytes_get_framed(field, &name_size);
    const uint8_t *digest = bytes_get(field, DIGEST_SIZE);

    if (field->failed)
        return;
    snprintf(path, sizeof(path), "header[%u].name", index);
    visit_text(walk, path, name_size, name);
    snprintf(path, sizeof(path), "header[%u].blake2b", index);
    walk->visit(walk->user, path, DIGEST_SIZE, digest, false);
}

/* A file: its digest and name, which may be empty. Last, a digest alone: which include leads to which text. */
static void read_file(struct walk *walk, unsigned index, struct bytes_reader *entry)
{
    char path[PATH_CAPACITY] = "includes.blake2b";
    size_t name_size = 0;
    const uint8_t *digest = bytes_get(entry, DIGEST_SIZE);
    const uint8_t *name = NULL;

    if (bytes_left(entry) != 0) {
        snprintf(path, sizeof(path), "file[%u].blake2b", index);
        name = bytes_get_framed(entry, &name_size);
    }
    if (entry->failed)
        return;
    walk->visit(walk->user, path, DIGEST_SIZE, digest, false);
    if (name_size != 0) {
        snprintf(path, sizeof(path), "file[%u].path", index);
        visit_text(walk, path, name_size, name);
    }
}

static void read_files(struct walk *walk, struct bytes_reader *field)
{
    for (unsigned index = 0; bytes_left(field) != 0; ++index) {
        struct bytes_reader entry;
        size_t size = 0;
        const uint8_t *bytes = bytes_get_framed(field, &size);
        if (field->failed)
            return;
        bytes_reader_init(&entry, size, bytes);
        read_file(walk, index, &entry);
        if (entry.failed || bytes_left(&entry) != 0) {
            field->failed = true;
            return;
        }
    }
}

static void read_spec_constant(struct walk *walk, struct bytes_reader *field)
{
    char path[PATH_CAPACITY];
    const uint32_t id = bytes_get_u32(field);
    const size_t size = bytes_left(field);
    const uint8_t *value = bytes_get(field, size);

    snprintf(path, sizeof(path), "spec_constant[%" PRIu32 "]", id);
    if (!field->failed)
        walk->visit(walk->user, path, size, value, false);
}

static void read_name_expression(struct walk *walk, unsigned index, struct bytes_reader *field)
{
    char path[PATH_CAPACITY];
    const size_t size = bytes_left(field);

    snprintf(path, sizeof(path), "name_expression[%u]", index);
    visit_text(walk, path, size, bytes_get(field, size));
}

/* Of one source: the rest of a path that begins with its number. */
static void read_source_options(struct walk *walk, struct bytes_reader *field)
{
    char path[PATH_CAPACITY];
    const uint32_t source = bytes_get_u32(field);
    const size_t size = bytes_left(field);

    snprintf(path, sizeof(path), "source[%" PRIu32 "].compile_options", source);
    if (!field->failed)
        visit_text(walk, path, size, bytes_get(field, size));
}

static void read_source_header(struct walk *walk, unsigned index, struct bytes_reader *field)
{
    char path[PATH_CAPACITY];
    size_t name_size = 0;
    const uint32_t source = bytes_get_u32(field);
    const uint8_t *name = bytes_get_framed(field, &name_size);
    const uint8_t *digest = bytes_get(field, DIGEST_SIZE);

    if (field->failed)
        return;
    snprintf(path, sizeof(path), "source[%" PRIu32 "].header[%u].name", source, index);
    visit_text(walk, path, name_size, name);
    snprintf(path, sizeof(path), "source[%" PRIu32 "].header[%u].blake2b", source, index);
    walk->visit(walk->user, path, DIGEST_SIZE, digest, false);
}

static bool read_field(struct walk *walk, uint32_t tag, size_t size, const uint8_t *value)
{
    struct bytes_reader field;

    bytes_reader_init(&field, size, value);
    if (tag > ID_LAST)
        return false;
    const unsigned index = walk->count[tag]++;
    switch (tag) {
    case ID_LIBRARY: visit_text(walk, "library", size, value); return true;
    case ID_BACKEND: visit_text(walk, "backend", size, value); return true;
    case ID_DEVICE: read_device(walk, index, &field); break;
    case ID_SOURCE: read_source(walk, index, &field); break;
    case ID_HEADER: read_header(walk, index, &field); break;
    case ID_FILES: read_files(walk, &field); break;
    case ID_COMPILE_OPTIONS: visit_text(walk, "compile_options", size, value); return true;
    case ID_LINK_OPTIONS: visit_text(walk, "link_options", size, value); return true;
    case ID_ENVIRONMENT_COMPILE_OPTIONS: visit_text(walk, "environment_compile_options", size, value); return true;
    case ID_ENVIRONMENT_LINK_OPTIONS: visit_text(walk, "environment_link_options", size, value); return true;
    case ID_SPEC_CONSTANT: read_spec_constant(walk, &field); break;
    case ID_NAME_EXPRESSION: read_name_expression(walk, index, &field); break;
    case ID_SOURCE_OPTIONS: read_source_options(walk, &field); break;
    case ID_SOURCE_HEADER: read_source_header(walk, index, &field); break;
    default: return false;
    }
    return !field.failed && bytes_left(&field) == 0;
}

ingot_status_t cache_blob_id_visit(size_t size, const uint8_t *id, cache_blob_id_visitor visit, void *user)
{
    struct walk walk = {.visit = visit, .user = user};
    struct bytes_reader reader;
    uint32_t last_tag = 0;

    bytes_reader_init(&reader, size, id);
    const uint8_t *magic = bytes_get(&reader, ID_MAGIC_SIZE);
    const uint32_t version = bytes_get_u32(&reader);
    if (magic != NULL && memcmp(magic, ID_MAGIC, ID_MAGIC_SIZE) != 0)
        return error_set(INGOT_BLOB_CORRUPT, "these bytes are no cache blob id");
    if (reader.failed)
        return error_set(INGOT_BLOB_TRUNCATED, "a cache blob id of %zu bytes ends too early", size);
    if (version != ID_FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION, "a cache blob id of format version %" PRIu32, version);
    while (bytes_left(&reader) != 0) {
        size_t field_size = 0;
        const uint32_t tag = bytes_get_u32(&reader);
        const uint8_t *value = bytes_get_framed(&reader, &field_size);
        if (reader.failed)
            return error_set(INGOT_BLOB_TRUNCATED, "a cache blob id of %zu bytes ends too early", size);
        if (tag < last_tag || !read_field(&walk, tag, field_size, value))
            return error_set(INGOT_BLOB_CORRUPT, "a cache blob id has a malformed field with tag %" PRIu32, tag);
        last_tag = tag;
    }
    return INGOT_SUCCESS;
}

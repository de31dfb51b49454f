/*
 * cache_blob_id_read.c - visits the fields of an id, which may come from an untrusted place.
 *
 * Every length is checked, and nothing is allocated. Each field gets a readable path, with an index if it may be
 * repeated.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/descriptor/cache_blob_id.h"
#include "core/descriptor/cache_blob_id_format.h"
#include "util/little_endian.h"

enum { PATH_CAPACITY = 256 };

struct walk {
    cache_blob_id_visitor visit;
    void *user;
    unsigned count[ID_LAST + 1]; /* number of fields seen so far, by tag */
    size_t path_size;            /* length of the path of the field; the name of one of its parts may follow */
    char path[PATH_CAPACITY];
};

static void begin_path(struct walk *walk, const struct id_rule *rule, unsigned index, struct bytes_reader *field)
{
    const char *name = rule->name;
    const uint32_t number = rule->often == ID_ONCE ? 0 : rule->often == ID_MANY ? index : bytes_get_u32(field);
    int size = 0;

    switch (rule->often) {
    case ID_ONCE: size = snprintf(walk->path, PATH_CAPACITY, "%s", name); break;
    case ID_MANY:
    case ID_BY_NUMBER: size = snprintf(walk->path, PATH_CAPACITY, "%s[%" PRIu32 "]", name, number); break;
    case ID_ONCE_PER_SOURCE: size = snprintf(walk->path, PATH_CAPACITY, "source[%" PRIu32 "].%s", number, name); break;
    case ID_MANY_PER_SOURCE:
        size = snprintf(walk->path, PATH_CAPACITY, "source[%" PRIu32 "].%s[%u]", number, name, index);
        break;
    }
    walk->path_size = (size_t)size;
}

/* Visits a part's value. Does nothing if the value is NULL because the field ends before it. */
static void visit_part(struct walk *walk, const char *part, size_t size, const uint8_t *value, bool is_text)
{
    if (value == NULL || walk->visit == NULL)
        return;
    snprintf(walk->path + walk->path_size, PATH_CAPACITY - walk->path_size, "%s", part);
    walk->visit(walk->user, walk->path, size, value, is_text);
}

/* Visits a device's values, whose paths end with their names. If a name is too long for a path, it is cut off, but
 * the value is still visited. */
static void read_device_part(struct walk *walk, struct bytes_reader *field)
{
    while (bytes_left(field) != 0) {
        char part[1 + 128 + 1];
        size_t name_size = 0;
        size_t value_size = 0;
        const uint8_t *name = bytes_get_framed(field, &name_size);
        const uint8_t *value = bytes_get_framed(field, &value_size);
        if (field->failed)
            return;
        snprintf(part, sizeof(part), ".%.*s", name_size < 128 ? (int)name_size : 128, (const char *)name);
        visit_part(walk, part, value_size, value, true);
    }
}

static const char *source_kind_name(uint32_t kind)
{
    switch (kind) {
    case INGOT_SOURCE_OPENCL_C: return "opencl_c";
    case INGOT_SOURCE_SPIRV: return "spirv";
    case INGOT_SOURCE_CUDA_CPP: return "cuda_cpp";
    case INGOT_SOURCE_PTX: return "ptx";
    default: return NULL; /* a kind that a custom backend defines */
    }
}

static void read_kind_part(struct walk *walk, struct bytes_reader *field)
{
    const uint8_t *bytes = bytes_get(field, 4);
    const char *word = bytes != NULL ? source_kind_name(le_get_u32(bytes)) : NULL;

    if (word != NULL)
        visit_part(walk, ".kind", strlen(word), (const uint8_t *)word, true);
    else
        visit_part(walk, ".kind", 4, bytes, false);
}

/* Visits the digest of an included file and its name, which may be empty. The last entry has no field for a name: it
 * is the digest of the shape, which describes which include leads to which text. */
static void read_included_file(struct walk *walk, unsigned index, struct bytes_reader *entry)
{
    char part[32] = "includes.blake2b";
    size_t name_size = 0;
    const uint8_t *digest = bytes_get(entry, DIGEST_SIZE);
    const uint8_t *name = NULL;

    if (bytes_left(entry) != 0) {
        snprintf(part, sizeof(part), "[%u].blake2b", index);
        name = bytes_get_framed(entry, &name_size);
    } else {
        walk->path_size = 0;
    }
    if (entry->failed)
        return;
    visit_part(walk, part, DIGEST_SIZE, digest, false);
    if (name_size != 0) {
        snprintf(part, sizeof(part), "[%u].path", index);
        visit_part(walk, part, name_size, name, true);
    }
}

static void read_files_part(struct walk *walk, struct bytes_reader *field)
{
    for (unsigned index = 0; bytes_left(field) != 0; ++index) {
        struct bytes_reader entry;
        size_t size = 0;
        const uint8_t *bytes = bytes_get_framed(field, &size);
        if (field->failed)
            return;
        bytes_reader_init(&entry, size, bytes);
        read_included_file(walk, index, &entry);
        if (entry.failed || bytes_left(&entry) != 0) {
            field->failed = true;
            return;
        }
    }
}

static void read_id_part(struct walk *walk, enum id_part part, struct bytes_reader *field)
{
    size_t size = bytes_left(field);

    switch (part) {
    case ID_PART_NONE: break;
    case ID_PART_TEXT:
    case ID_PART_BYTES: visit_part(walk, "", size, bytes_get(field, size), part == ID_PART_TEXT); break;
    case ID_PART_NAME: {
        const uint8_t *name = bytes_get_framed(field, &size);
        visit_part(walk, ".name", size, name, true);
        break;
    }
    case ID_PART_DIGEST: visit_part(walk, ".blake2b", DIGEST_SIZE, bytes_get(field, DIGEST_SIZE), false); break;
    case ID_PART_KIND: read_kind_part(walk, field); break;
    case ID_PART_DEVICE: read_device_part(walk, field); break;
    case ID_PART_FILES: read_files_part(walk, field); break;
    }
}

static bool read_tagged_field(struct walk *walk, uint32_t tag, size_t size, const uint8_t *value)
{
    struct bytes_reader field;

    if (tag > ID_LAST || id_rules[tag].name == NULL)
        return false;
    const struct id_rule *rule = &id_rules[tag];
    bytes_reader_init(&field, size, value);
    begin_path(walk, rule, walk->count[tag]++, &field);
    for (size_t i = 0; i < sizeof(rule->parts) / sizeof(rule->parts[0]) && !field.failed; ++i)
        read_id_part(walk, rule->parts[i], &field);
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
        return error_set(INGOT_BLOB_CORRUPT, "these bytes are not a cache blob id");
    if (reader.failed)
        return error_set(INGOT_BLOB_TRUNCATED, "a cache blob id of %zu bytes ends too early", size);
    if (version != ID_FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION, "a cache blob id has the unknown format version %" PRIu32, version);
    while (bytes_left(&reader) != 0) {
        size_t field_size = 0;
        const uint32_t tag = bytes_get_u32(&reader);
        const uint8_t *value = bytes_get_framed(&reader, &field_size);
        if (reader.failed)
            return error_set(INGOT_BLOB_TRUNCATED, "a cache blob id of %zu bytes ends too early", size);
        if (tag < last_tag || !read_tagged_field(&walk, tag, field_size, value))
            return error_set(INGOT_BLOB_CORRUPT, "a cache blob id has a malformed field with tag %" PRIu32, tag);
        last_tag = tag;
    }
    return INGOT_SUCCESS;
}

/*
 * index.c - which records a recipe file has, and the programs of its ids; see index.h.
 */
#include "persist/recipe/index.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/memory.h"

_Static_assert(KEY_MAP_KEY_SIZE == INGOT_RECIPE_KEY_SIZE, "the keys of records are the keys of maps");

void recipe_index_init(struct recipe_index *index, const ingot_allocator_t *allocator)
{
    *index = (struct recipe_index){.scan.fd = -1};
    for (size_t i = 0; i < RECIPE_KIND_COUNT; ++i)
        key_map_init(&index->records[i], allocator);
    bytes_writer_init(&index->programs, allocator);
}

void recipe_index_fini(struct recipe_index *index)
{
    const ingot_allocator_t *allocator = index->programs.allocator;
    for (size_t i = 0; i < RECIPE_KIND_COUNT; ++i)
        key_map_fini(&index->records[i]);
    bytes_writer_fini(&index->programs);
    recipe_index_init(index, allocator);
}

bool recipe_index_has(const struct recipe_index *index, uint32_t kind, const uint8_t *key)
{
    return kind < RECIPE_KIND_COUNT && key_map_find(&index->records[kind], key, NULL);
}

bool recipe_index_find_program(const struct recipe_index *index, const uint8_t *id_key, uint8_t *program_key)
{
    size_t number;
    if (!key_map_find(&index->records[RECIPE_RECORD_ID], id_key, &number))
        return false;
    memcpy(program_key, index->programs.bytes + number * INGOT_RECIPE_KEY_SIZE, INGOT_RECIPE_KEY_SIZE);
    return recipe_index_has(index, RECIPE_RECORD_PROGRAM, program_key);
}

ingot_status_t recipe_index_add(struct recipe_index *index, uint32_t kind, const uint8_t *key, const uint8_t *content)
{
    if (kind >= RECIPE_KIND_COUNT || recipe_index_has(index, kind, key))
        return INGOT_SUCCESS;
    if (kind == RECIPE_RECORD_ID)
        bytes_put(&index->programs, INGOT_RECIPE_KEY_SIZE, content);
    if (!index->programs.failed && key_map_add(&index->records[kind], key, index->records[kind].count))
        return INGOT_SUCCESS;
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the keys of a recipe");
}

/* Adds a record of the open file. Leaves out an id if its record is damaged. */
static ingot_status_t add_read(struct recipe_index *index, const struct recipe_record *record)
{
    const ingot_allocator_t *allocator = index->programs.allocator;
    uint8_t *content = NULL;
    ingot_status_t status = INGOT_SUCCESS;
    if (record->kind == RECIPE_RECORD_ID) {
        if (record->size != INGOT_RECIPE_KEY_SIZE)
            return INGOT_SUCCESS;
        status = recipe_record_read(index->scan.fd, index->scan.name, record, allocator, &content);
    }
    if (status == INGOT_SUCCESS)
        status = recipe_index_add(index, record->kind, record->key, content);
    memory_free(allocator, content, INGOT_RECIPE_KEY_SIZE);
    return status == INGOT_BLOB_CORRUPT ? INGOT_SUCCESS : status;
}

/* True if the open file, which has these facts, begins with the known records. */
static bool has_known_records(const struct recipe_index *index, int fd, const struct file_facts *facts)
{
    uint8_t header[RECIPE_RECORD_SIZE];
    size_t got = 0;
    if (facts->device != index->facts.device || facts->inode != index->facts.inode ||
        facts->size_bytes < index->scan.offset)
        return false;
    return index->last == 0 || (files_read(fd, index->last, sizeof(header), header, &got) == 0 &&
                                got == sizeof(header) && memcmp(header, index->last_header, sizeof(header)) == 0);
}

static ingot_status_t read_new(struct recipe_index *index, const char *path)
{
    struct recipe_record record;
    enum recipe_found found = RECIPE_FOUND_RECORD;
    ingot_status_t status = INGOT_SUCCESS;
    uint64_t last = 0;
    while (status == INGOT_SUCCESS && found == RECIPE_FOUND_RECORD) {
        status = recipe_scan_next(&index->scan, &record, &found);
        if (status == INGOT_SUCCESS && found == RECIPE_FOUND_RECORD) {
            last = record.content - RECIPE_RECORD_SIZE;
            status = add_read(index, &record);
        }
    }
    if (status == INGOT_SUCCESS && found == RECIPE_FOUND_UNREADABLE)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT,
                                      "%s is damaged from byte %llu on, so nothing is appended; copy what is readable "
                                      "into a new file (ingot recipe merge)",
                                      path, (unsigned long long)index->scan.offset);
    if (status != INGOT_SUCCESS || last == 0)
        return status;
    index->last = last;
    return files_read_all(index->scan.fd, path, last, sizeof(index->last_header), index->last_header);
}

ingot_status_t recipe_index_read(struct recipe_index *index, int fd, const char *path, const struct file_facts *facts)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (!has_known_records(index, fd, facts))
        recipe_index_fini(index);
    if (index->scan.offset == 0)
        status = recipe_scan_begin(&index->scan, fd, facts->size_bytes, path);
    index->scan.fd = fd;
    index->scan.file_size = facts->size_bytes;
    index->facts = *facts;
    if (status == INGOT_SUCCESS)
        status = read_new(index, path);
    index->scan.fd = -1;
    if (status != INGOT_SUCCESS)
        recipe_index_fini(index);
    return status;
}

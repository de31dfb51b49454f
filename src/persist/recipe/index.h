/*
 * index.h - which records a recipe file has, and the programs of its ids.
 *
 * An index grows with its file: each read examines only the records that were appended since the last one. A modified
 * file counts as the same one only if the last known record is still in its place, because a new file can get the inode
 * of a deleted one, and a file can be overwritten. Not synchronized.
 */
#ifndef INGOT_PERSIST_RECIPE_INDEX_H
#define INGOT_PERSIST_RECIPE_INDEX_H

#include "persist/base/containers/key_map.h"
#include "persist/base/files.h"
#include "persist/recipe/format/record.h"

struct recipe_index {
    struct key_map records[RECIPE_KIND_COUNT]; /* per kind of record: its keys; those of ids with a number, see below */
    struct bytes_writer programs;              /* the keys of the ids' programs, in the order of the ids' numbers */
    struct recipe_scan scan;                   /* its offset is where the known part of the file ends; 0: none */
    struct file_facts facts;                   /* as they were when the file was last read; inode 0: never */
    uint64_t last;                             /* the offset of the last known record; 0: none is known */
    uint8_t last_header[RECIPE_RECORD_SIZE];
};

void recipe_index_init(struct recipe_index *index, const ingot_allocator_t *allocator);
/* Empties the index. */
void recipe_index_fini(struct recipe_index *index);
bool recipe_index_has(const struct recipe_index *index, uint32_t kind, const uint8_t *key);
/* Copies the key of the program that has an id. Returns false if the file does not have both. */
bool recipe_index_find_program(const struct recipe_index *index, const uint8_t *id_key, uint8_t *program_key);
/* Adds a record. `content` is that of an id, and otherwise not used. May return INGOT_OUT_OF_MEMORY. */
ingot_status_t recipe_index_add(struct recipe_index *index, uint32_t kind, const uint8_t *key, const uint8_t *content);
/* Reads what was appended to the open file since the last read. `facts`: its inode, size and times now. On failure,
 * empties the index. Returns INGOT_BLOB_CORRUPT if the end of the file cannot be found, or another status of
 * recipe_scan_next. */
ingot_status_t recipe_index_read(struct recipe_index *index, int fd, const char *path, const struct file_facts *facts);

#endif

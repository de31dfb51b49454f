/*
 * cache_blob_id_format.h - defines the format of ids in one table, which the writer and all readers use.
 *
 * doc/blob-format.md explains the fields.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H

#include "util/entry_kind.h"

#define ID_MAGIC ENTRY_RESULT_MAGIC
#define ID_MAGIC_SIZE ENTRY_MAGIC_SIZE
#define ID_FORMAT_VERSION 2u

/* The value of the field ID_LIBRARY: the version of the rules by which Ingot turns a request into the compiler's input.
 * Increase the number with each change that gives the compiler other bytes for an equal request, and with each change
 * after which a blob of an earlier library must not be loaded. format_test and texts_test compare ids and texts with
 * earlier ones, so they fail at a change that was made by mistake. The version of the library is not in an id, so a new
 * library can load what an earlier one stored. */
#define ID_RULES "rules 1"

/* The tags of fields. In an id, fields are in ascending order of their tags. Those before ID_DEVICE describe the
 * library; those from ID_SOURCE on describe the program. */
enum id_field {
    ID_LIBRARY = 1,
    ID_BACKEND = 2,
    ID_DEVICE = 3,
    ID_SOURCE = 16,
    ID_HEADER = 17,
    ID_FILES = 18,
    ID_COMPILE_OPTIONS = 19,
    ID_LINK_OPTIONS = 20,
    ID_ENVIRONMENT_COMPILE_OPTIONS = 21,
    ID_ENVIRONMENT_LINK_OPTIONS = 22,
    ID_SPEC_CONSTANT = 23,
    ID_NAME_EXPRESSION = 24,
    ID_SOURCE_OPTIONS = 25,
    ID_SOURCE_HEADER = 26,
    ID_LAST = ID_SOURCE_HEADER
};

struct id_writing; /* defined in cache_blob_id.c */

/* How often a field occurs in an id, and its path, which is the name that people and tools see. */
enum id_often {
    ID_ONCE,            /* "name" */
    ID_MANY,            /* "name[i]", counted in the order of the id */
    ID_BY_NUMBER,       /* "name[n]"; the field begins with n */
    ID_ONCE_PER_SOURCE, /* "source[n].name"; the field begins with n */
    ID_MANY_PER_SOURCE  /* "source[n].name[i]"; the field begins with n */
};

/* The parts that a field consists of. */
enum id_part {
    ID_PART_NONE,
    ID_PART_TEXT,   /* text, up to the end of the field */
    ID_PART_BYTES,  /* bytes, up to the end of the field */
    ID_PART_NAME,   /* text, preceded by its length */
    ID_PART_DIGEST, /* the digest of a text */
    ID_PART_KIND,   /* the kind of a source */
    ID_PART_DEVICE, /* an identity's names and values, each preceded by its length */
    ID_PART_FILES   /* an entry for each file, preceded by its length */
};

/* The format of a field. */
struct id_rule {
    const char *name; /* NULL if no field has this tag */
    enum id_often often;
    enum id_part parts[2];
    void (*put)(struct id_writing *id); /* writes all fields that have the tag */
};

extern const struct id_rule id_rules[ID_LAST + 1]; /* indexed by tag; defined in cache_blob_id.c */

#endif

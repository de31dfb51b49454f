/*
 * cache_blob_id_format.h - defines the format of ids in one table, which the writer and all readers use.
 *
 * doc/blob-format.md explains the fields.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H

#include "util/id_fields.h"

struct id_writing; /* defined in cache_blob_id.c */

/* How often a field occurs in an id, and how its path begins. */
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

struct id_rule {
    const char *name; /* NULL if no field has this tag */
    enum id_often often;
    enum id_part parts[2];
    void (*put)(struct id_writing *id); /* writes all fields that have the tag */
};

extern const struct id_rule id_rules[ID_LAST + 1]; /* indexed by tag; defined in cache_blob_id.c */

#endif

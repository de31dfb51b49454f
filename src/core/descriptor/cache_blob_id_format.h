/*
 * cache_blob_id_format.h - the format of ids: one table that the writer and all readers use. doc/blob-format.md
 * explains the fields.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H

struct id_writing; /* cache_blob_id.c */

#define ID_MAGIC "INGOTID\n"
#define ID_MAGIC_SIZE 8
#define ID_FORMAT_VERSION 2u

/* The tags of fields. Fields are in ascending order of their tags. Those before ID_DEVICE are the library's part; those
 * from ID_SOURCE on are the program's. */
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

/* How often a field occurs in an id, and how its path begins. */
enum id_often {
    ID_ONCE,            /* "name" */
    ID_MANY,            /* "name[i]", in the order of the id */
    ID_BY_NUMBER,       /* "name[n]", where the field begins with n */
    ID_ONCE_PER_SOURCE, /* "source[n].name", likewise */
    ID_MANY_PER_SOURCE  /* "source[n].name[i]", likewise */
};

/* The parts of a field, in order. */
enum id_part {
    ID_PART_NONE,
    ID_PART_TEXT,   /* the rest */
    ID_PART_BYTES,  /* the rest */
    ID_PART_NAME,   /* framed text */
    ID_PART_DIGEST, /* of a text */
    ID_PART_KIND,   /* of a source */
    ID_PART_DEVICE, /* the rest: framed names and values of an identity */
    ID_PART_FILES   /* the rest: a framed entry for each file */
};

struct id_rule {
    const char *name; /* NULL: no field has this tag */
    enum id_often often;
    enum id_part parts[2];
    void (*put)(struct id_writing *id); /* writes all fields of the tag */
};

extern const struct id_rule id_rules[ID_LAST + 1]; /* by tag; in cache_blob_id.c */

#endif

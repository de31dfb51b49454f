/*
 * id_fields.h - defines how an id begins, and the tags of its fields; see doc/blob-format.md.
 *
 * core writes and reads ids (core/descriptor/cache_blob_id_format.h); persist finds single fields in them.
 */
#ifndef INGOT_UTIL_ID_FIELDS_H
#define INGOT_UTIL_ID_FIELDS_H

#define ID_MAGIC "INGOTID\n"
#define ID_MAGIC_SIZE 8
#define ID_FORMAT_VERSION 2u
#define ID_FIELDS_OFFSET (ID_MAGIC_SIZE + 4) /* after the magic and the version */

/* The value of the field ID_LIBRARY: the rules by which Ingot turns a request into what the compiler gets. Raise the
 * number with each change after which a compiler gets other bytes for an equal request, or after which a blob that an
 * earlier library stored must not be loaded. format_test and texts_test compare golden ids and texts, and fail at a
 * change that was not meant. The library's revision is not in an id, so a new build uses what earlier ones stored. */
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

#endif

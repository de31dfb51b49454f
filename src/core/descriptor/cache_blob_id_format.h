/*
 * cache_blob_id_format.h - the numbers of the id's format; doc/blob-format.md says what they stand for.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H

#define ID_MAGIC "INGOTID\n"
#define ID_MAGIC_SIZE 8
#define ID_FORMAT_VERSION 2u

/* Fields stand in ascending order of their tags; those from ID_SOURCE on are the program's part. */
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

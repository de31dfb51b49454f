/*
 * fields.h - encodes and decodes the fields of a program's record; see doc/recipe-format.md.
 */
#ifndef INGOT_PERSIST_RECIPE_FORMAT_FIELDS_H
#define INGOT_PERSIST_RECIPE_FORMAT_FIELDS_H

#include <ingot/private/recipe.h>

#include "util/bytes_writer.h"
#include "util/memory.h"

enum recipe_field {
    FIELD_KIND = 1,
    FIELD_BACKEND = 2,
    FIELD_SOURCE = 3,
    FIELD_SOURCE_HEADER = 4,
    FIELD_HEADER = 5,
    FIELD_COMPILE_OPTIONS = 6,
    FIELD_LINK_OPTIONS = 7,
    FIELD_SPEC_CONSTANT = 8,
    FIELD_NAME_EXPRESSION = 9,
    FIELD_FILE = 10,
    FIELD_INCLUDES = 11,
    FIELD_OBJECT = 12, /* this one and the next are only in programs that earlier versions recorded */
    FIELD_HAS_OPTIONS = 13,
    FIELD_REASON = 14,
    FIELD_REMARKS = 64, /* the key is not computed from fields with this tag or a larger one */
    FIELD_NAME = 64,
    FIELD_GROUP = 65,
    FIELD_BUILT_FOR = 66,
    FIELD_BUILD_TIME = 67,
    FIELD_LAST = FIELD_BUILD_TIME
};

/* Returns the number of the recipe's text with this digest and this size, or SIZE_MAX if the recipe lacks it. */
typedef size_t (*recipe_find_text_t)(const void *user, const uint8_t *digest, uint64_t size);

/* A program's fields, in the memory of the arena with which they were decoded. */
struct recipe_fields {
    ingot_recipe_program_t program; /* without key and status */
    bool lacks_text;                /* true: the recipe lacks a text of the program */
    uint64_t text_bytes;            /* size of the texts, each counted as often as the program names it */
    uint32_t *numbers;              /* as in ingot_includes_info_t */
    size_t number_count;
    const char **kernels; /* set by the reader once it knows all kernels; before that, NULL */
    size_t key_size;      /* the key is the digest of this many bytes of the content */
};

/* Decodes a record's content, and finds the texts that it names. Returns false if the content is malformed or if the
 * arena failed. */
bool recipe_fields_decode(struct recipe_fields *fields, struct arena *arena, size_t size, const uint8_t *content,
                          recipe_find_text_t find_text, const void *user);

/* Append a field, even if its value is empty. The tag must not be less than the tag of the previous field. */
void recipe_put_field(struct bytes_writer *content, enum recipe_field tag, size_t size, const void *value);
void recipe_put_number(struct bytes_writer *content, enum recipe_field tag, uint32_t value);
/* Appends a field with this text, or nothing if the text is NULL or "". */
void recipe_put_text_field(struct bytes_writer *content, enum recipe_field tag, const char *text);
/* Begins a field whose value is appended in parts. The result is passed to recipe_end_field, which sets the size. */
size_t recipe_begin_field(struct bytes_writer *content, enum recipe_field tag);
void recipe_end_field(struct bytes_writer *content, size_t begin);
/* Appends a text, preceded by its size (u32), to the value of the current field. */
void recipe_put_text(struct bytes_writer *content, const char *text);

#endif

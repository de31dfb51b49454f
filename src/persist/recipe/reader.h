/*
 * reader.h - an open recipe, whose contents the other files of this folder also use.
 */
#ifndef INGOT_PERSIST_RECIPE_READER_H
#define INGOT_PERSIST_RECIPE_READER_H

#include <ingot/private/recipe.h>

#include "persist/base/containers/key_map.h"
#include "persist/base/files.h"
#include "persist/recipe/check.h"
#include "persist/recipe/format/fields.h"
#include "persist/recipe/format/record.h"
#include "util/kept_file.h"

/* A program, and its record's content. */
struct recipe_node {
    struct recipe_fields fields;
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    uint8_t *content;
    size_t size;
    size_t last_id; /* index of the program's last recipe_id, plus one; 0: none */
};

/* An id of a program. */
struct recipe_id {
    uint8_t digest[INGOT_RECIPE_KEY_SIZE];
    size_t before; /* index of the program's previous recipe_id, plus one; 0: none */
};

struct ingot_recipe {
    ingot_allocator_t allocator;
    struct kept_file file;
    char *path;
    size_t path_size;
    struct arena arena;
    struct bytes_writer texts;                 /* array of struct recipe_record */
    struct bytes_writer nodes;                 /* array of struct recipe_node */
    struct bytes_writer ids;                   /* array of struct recipe_id */
    struct bytes_writer kernels;               /* array of struct kernel_node */
    struct key_map numbers[RECIPE_KIND_COUNT]; /* per kind of record: the numbers of the records; of an id, that of its
                                                * program */
    ingot_recipe_summary_t summary;
    struct recipe_check *check; /* checks seals; set only while a file is opened with a trust policy */
};

static inline const struct recipe_record *recipe_text_at(const struct ingot_recipe *recipe, size_t number)
{
    return (const struct recipe_record *)(const void *)recipe->texts.bytes + number;
}

static inline struct recipe_node *recipe_node_at(const struct ingot_recipe *recipe, size_t number)
{
    return (struct recipe_node *)(void *)recipe->nodes.bytes + number;
}

static inline const struct recipe_id *recipe_id_at(const struct ingot_recipe *recipe, size_t number)
{
    return (const struct recipe_id *)(const void *)recipe->ids.bytes + number;
}

/* Opens a recipe, and passes its records and seals to `check`, which is NULL if there is no policy. The caller must
 * evaluate the check. Returns the statuses of ingot_recipe_open. */
ingot_status_t recipe_open_checked(ingot_recipe_t *recipe, const char *path, struct recipe_check *check);

/* Examines the open file as recipe_file_check does. */
ingot_status_t recipe_check_file(ingot_recipe_t recipe, struct file_facts *facts);
/* Reads a text. The caller must free it with the recipe's allocator and the size of the text's record. */
ingot_status_t recipe_read_text(ingot_recipe_t recipe, size_t text, uint8_t **bytes);

#endif

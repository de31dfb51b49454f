/*
 * draft.h - composes a program's records, before they are appended to a recipe.
 */
#ifndef INGOT_PERSIST_RECIPE_DRAFT_H
#define INGOT_PERSIST_RECIPE_DRAFT_H

#include <ingot/private/descriptor.h>

#include "persist/recipe/writer.h"
#include "util/bytes_writer.h"
#include "util/memory.h"

/* The records of one program. Their texts belong to the descriptor, which must live as long as the draft. */
struct recipe_draft {
    struct arena arena;
    struct bytes_writer content;    /* content of the program's record */
    ingot_program_info_t info;      /* of the descriptor */
    ingot_includes_t includes;      /* NULL if there are none */
    ingot_includes_info_t included; /* their content; zeros if there are none */
    struct recipe_item *items;
    size_t item_count;
    size_t item_room;
    uint8_t key[INGOT_RECIPE_KEY_SIZE]; /* key of the program */
};

void recipe_draft_init(struct recipe_draft *draft, const ingot_allocator_t *allocator);
void recipe_draft_fini(struct recipe_draft *draft);

/* Fills in the items of a program. If the program cannot be built from a recipe, fills in those of an unrecorded
 * program with the reason, and shortens the paths in the reason to names. `program` provides the build time and may be
 * NULL. */
ingot_status_t recipe_draft_make(struct recipe_draft *draft, const_ingot_program_desc_t desc,
                                 const_ingot_program_t program);
/* Adds a record. The content must live as long as the draft. On failure, the arena's `failed` is set. */
void recipe_draft_add(struct recipe_draft *draft, enum recipe_record_kind kind, const uint8_t *key, size_t size,
                      const void *content);

/* Computes the key of the record of a program's id. Returns INGOT_NOT_CACHEABLE or another status if the program has no
 * id. */
ingot_status_t recipe_id_key(const_ingot_program_desc_t desc, uint8_t key[INGOT_RECIPE_KEY_SIZE]);

#endif

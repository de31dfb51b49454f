/*
 * draft.h - composes a program's records, before they are appended to a recipe.
 */
#ifndef INGOT_PERSIST_RECIPE_DRAFT_H
#define INGOT_PERSIST_RECIPE_DRAFT_H

#include <ingot/private/descriptor.h>

#include "persist/recipe/writer.h"
#include "util/arena.h"
#include "util/bytes_writer.h"

/* The records of one program. Their texts belong to the descriptor, which must live as long as the draft. */
struct recipe_draft {
    struct arena arena;
    struct bytes_writer content;    /* content of the program's record */
    ingot_includes_t includes;      /* NULL if there are none */
    ingot_includes_info_t included; /* their content; zeros if there are none */
    struct recipe_item *items;
    size_t item_count;
    size_t item_room;
    uint8_t key[INGOT_RECIPE_KEY_SIZE]; /* key of the program */
};

/* What is known about a program in addition to its descriptor. */
struct recipe_remarks {
    const char *name;
    const char *group;
    size_t id_size; /* 0: none */
    const uint8_t *id;
    uint64_t build_time_ns;
};

void recipe_draft_init(struct recipe_draft *draft, const ingot_allocator_t *allocator);
void recipe_draft_fini(struct recipe_draft *draft);

/* Fills in the items of a program that can be built from the recipe. If the program has includes, the caller must have
 * read them into the draft. Like the next function, may return INGOT_OUT_OF_MEMORY. */
ingot_status_t recipe_draft_program(struct recipe_draft *draft, const_ingot_program_desc_t desc,
                                    const struct recipe_remarks *remarks);
/* Fills in the items of a program that cannot be built from the recipe. Paths in the reason are shortened to names. */
ingot_status_t recipe_draft_unrecorded(struct recipe_draft *draft, const_ingot_program_desc_t desc, const char *reason,
                                       const struct recipe_remarks *remarks);

/* Adds a record. The content must live as long as the draft. On failure, the arena's `failed` is set. */
void recipe_draft_add(struct recipe_draft *draft, enum recipe_record_kind kind, const uint8_t *key, size_t size,
                      const void *content);

/* Returns the reason why a program cannot be built from a recipe although it has an id, or NULL if it can. */
const char *recipe_draft_refusal(const_ingot_program_desc_t desc, const ingot_includes_info_t *includes);

/* Returns the part of a path after its last slash. */
const char *recipe_base_name(const char *path);

#endif

/*
 * items.c - prepares and encodes the records of one addition, before they are appended; see writer.h.
 */
#include <ingot/backend.h>

#include "persist/base/containers/key_map.h"
#include "persist/recipe/writer.h"

ingot_status_t recipe_items_init(size_t count, struct recipe_item *items, const ingot_allocator_t *allocator)
{
    struct key_map seen[RECIPE_KIND_COUNT];
    bool has_memory = true;
    for (size_t i = 0; i < RECIPE_KIND_COUNT; ++i)
        key_map_init(&seen[i], allocator);
    for (size_t i = 0; i < count; ++i) {
        bytes_writer_init(&items[i].encoded, allocator);
        items[i].is_repeated = key_map_find(&seen[items[i].kind], items[i].key, NULL);
        if (has_memory && !items[i].is_repeated)
            has_memory = key_map_add(&seen[items[i].kind], items[i].key, i);
    }
    for (size_t i = 0; i < RECIPE_KIND_COUNT; ++i)
        key_map_fini(&seen[i]);
    return has_memory ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu records", count);
}

void recipe_items_fini(size_t count, struct recipe_item *items)
{
    for (size_t i = 0; i < count; ++i)
        bytes_writer_fini(&items[i].encoded);
}

ingot_status_t recipe_items_encode(size_t count, struct recipe_item *items, const char *path)
{
    for (size_t i = 0; i < count; ++i) {
        struct recipe_item *item = &items[i];
        const uint64_t most = item->kind == RECIPE_RECORD_PROGRAM ? RECIPE_MAX_PROGRAM : RECIPE_MAX_TEXT;
        if (!item->is_needed || item->encoded.size != 0)
            continue;
        if (item->size > most)
            return ingot_set_error_detail(INGOT_NO_SPACE, "%s: %zu bytes exceed the limit of a recipe's record", path,
                                          item->size);
        recipe_record_put(&item->encoded, item->kind, item->key, item->size, item->content);
        if (item->encoded.failed)
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a record of %zu bytes", item->size);
    }
    return INGOT_SUCCESS;
}

bool recipe_items_are_encoded(size_t count, const struct recipe_item *items)
{
    bool are = true;
    for (size_t i = 0; i < count; ++i)
        are = are && (!items[i].is_needed || items[i].encoded.size != 0);
    return are;
}

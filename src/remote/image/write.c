/*
 * write.c - writes the entries of a store as an image.
 *
 * A layer of the earlier image stays if the store still has at least half of it, byte for byte. All other entries
 * become new bundles, one for each namespace, which come first, because readers take the first entry of an id.
 */
#include <cjson/cJSON.h>
#include <ingot/backend.h>
#include <ingot/private/directory.h>
#include <ingot/private/remote.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/image/layout.h"
#include "util/entry_kind.h"
#include "util/error_text.h"

#define KEY_SIZE 32u
#define MOST_KEPT_LAYERS 256u /* of more, all entries are written anew */

/* An entry of the store. */
struct item {
    uint8_t key[KEY_SIZE];     /* of the namespace and the id */
    uint8_t content[KEY_SIZE]; /* of the blob with its seal */
    uint64_t size;
    size_t layer;   /* the number of the kept layer that has it, from 1; 0: none */
    size_t covered; /* the number of the first kept layer that has another blob for the id; 0: none */
};

struct writing {
    ingot_storage_t storage;
    const char *directory;
    ingot_image_stats_t *stats;
    cJSON *name_spaces; /* an object with a member for each */
    size_t item_count;
    struct item *items; /* ascending by key once all are noted */
    struct image made;
    ingot_storage_t bundle; /* a layer of the earlier image, and what it has in common with the store */
    const char *name_space;
    size_t layer;
    uint64_t living_bytes;
};

static ingot_status_t out_of_memory(void)
{
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
}

static int compare_items(const void *a, const void *b)
{
    return memcmp(((const struct item *)a)->key, ((const struct item *)b)->key, KEY_SIZE);
}

static void set_key(struct item *item, const char *name_space, const ingot_persist_entry_t *entry)
{
    crypto_generichash_blake2b_state state;
    const uint64_t id_size = entry->id_size;
    (void)crypto_generichash_blake2b_init(&state, NULL, 0, KEY_SIZE);
    (void)crypto_generichash_blake2b_update(&state, (const uint8_t *)name_space, strlen(name_space) + 1);
    (void)crypto_generichash_blake2b_update(&state, (const uint8_t *)&id_size, sizeof(id_size));
    (void)crypto_generichash_blake2b_update(&state, entry->id, entry->id_size);
    (void)crypto_generichash_blake2b_final(&state, item->key, KEY_SIZE);
}

/* Finds the entry with the same namespace and id. */
static struct item *find_item(const struct writing *writing, const struct item *wanted)
{
    return writing->item_count != 0
               ? bsearch(wanted, writing->items, writing->item_count, sizeof(*wanted), compare_items)
               : NULL;
}

static bool is_same(const struct item *a, const struct item *b)
{
    return memcmp(a->content, b->content, KEY_SIZE) == 0;
}

/* Reads the blob of an entry, and makes its item. */
static ingot_status_t read_item(struct item *item, ingot_storage_t storage, const char *name_space,
                                const ingot_persist_entry_t *entry)
{
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    if (entry->status != INGOT_SUCCESS)
        return ingot_set_error_detail(entry->status, "%s", entry->reason);
    const ingot_status_t status = ingot_persist_load_entry(storage, entry, 1, &kept);
    if (status != INGOT_SUCCESS)
        return status;
    *item = (struct item){.size = entry->id_size + kept.size};
    set_key(item, name_space, entry);
    (void)crypto_generichash_blake2b(item->content, KEY_SIZE, kept.bytes, kept.size, NULL, 0);
    kept.release(&kept);
    return INGOT_SUCCESS;
}

/* Notes an entry of the store. One that cannot be read, or is not for others, is left out. */
static ingot_status_t note_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct writing *writing = user;
    ingot_image_stats_t *stats = writing->stats;
    struct item item;
    if (entry->status == INGOT_SUCCESS && entry_kind_of(entry->id_size, entry->id) == ENTRY_PROBES)
        return INGOT_SUCCESS;
    const ingot_status_t status = read_item(&item, writing->storage, entry->name_space, entry);
    if (status == INGOT_NOT_FOUND) /* evicted in the meantime */
        return INGOT_SUCCESS;
    if (status != INGOT_SUCCESS) {
        ++stats->failed_count;
        error_text_copy(stats->reason, sizeof(stats->reason), ingot_last_error_detail());
        return status == INGOT_OUT_OF_MEMORY ? status : INGOT_SUCCESS;
    }
    if (cJSON_GetObjectItemCaseSensitive(writing->name_spaces, entry->name_space) == NULL &&
        cJSON_AddTrueToObject(writing->name_spaces, entry->name_space) == NULL)
        return out_of_memory();
    struct item *items = realloc(writing->items, (writing->item_count + 1) * sizeof(*items));
    if (items == NULL)
        return out_of_memory();
    writing->items = items;
    items[writing->item_count++] = item;
    return INGOT_SUCCESS;
}

/* ---- the earlier image ---- */

/* True if an image, or a layer, is missing or of no use. Another failure may pass, and what could not be read then must
 * not be removed. */
static bool is_unusable(ingot_status_t status)
{
    return status == INGOT_NOT_FOUND || status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED ||
           status == INGOT_BLOB_VERSION || status == INGOT_UNTRUSTED;
}

/* Notes that a layer has an entry of the store, or another blob for its id. Readers take an id from the first layer
 * that has it, so an entry that is covered by another blob must come to the front again. */
static ingot_status_t note_living(const ingot_persist_entry_t *entry, void *user)
{
    struct writing *writing = user;
    struct item wanted;
    const ingot_status_t status = read_item(&wanted, writing->bundle, writing->name_space, entry);
    struct item *item = status == INGOT_SUCCESS ? find_item(writing, &wanted) : NULL;
    if (item != NULL && item->layer == 0 && item->covered == 0 && is_same(item, &wanted)) {
        item->layer = writing->layer;
        writing->living_bytes += item->size;
    } else if (item != NULL && item->layer == 0 && item->covered == 0) {
        item->covered = writing->layer;
    }
    return status == INGOT_OUT_OF_MEMORY ? status : INGOT_SUCCESS; /* a damaged entry is none */
}

/* Takes over a layer of the earlier image, unless it cannot be used or the store has less than half of it. */
static ingot_status_t keep_layer(struct writing *writing, const struct layer *layer)
{
    writing->layer = writing->made.count + 1;
    writing->name_space = layer->name_space;
    writing->living_bytes = 0;
    ingot_status_t status = layout_open_layer(writing->directory, layer, &writing->bundle);
    if (status != INGOT_SUCCESS)
        return is_unusable(status) ? INGOT_SUCCESS : status;
    status = ingot_persist_for_each(writing->bundle, note_living, writing);
    ingot_storage_release(writing->bundle);
    if (writing->living_bytes != 0 && writing->living_bytes >= layer->size / 2)
        return status != INGOT_SUCCESS || image_add(&writing->made, layer) ? status : out_of_memory();
    for (size_t i = 0; i < writing->item_count; ++i) {
        struct item *item = &writing->items[i];
        item->layer = item->layer != writing->layer ? item->layer : 0;
        item->covered = item->covered != writing->layer ? item->covered : 0;
    }
    return status;
}

static ingot_status_t keep_layers(struct writing *writing)
{
    struct image old;
    ingot_status_t status = layout_read_image(writing->directory, &old);
    if (status != INGOT_SUCCESS)
        return is_unusable(status) ? INGOT_SUCCESS : status;
    for (size_t i = 0; i < old.count && old.count <= MOST_KEPT_LAYERS && status == INGOT_SUCCESS; ++i)
        status = keep_layer(writing, &old.layers[i]);
    free(old.layers);
    return status;
}

/* ---- new layers ---- */

/* Returns 1 for an entry that belongs to the new bundle of its namespace. If its blob was replaced since it was noted,
 * the bundle gets the newer one. */
static int is_new(const ingot_persist_entry_t *entry, void *user)
{
    struct writing *writing = user;
    struct item wanted;
    if (entry->status != INGOT_SUCCESS || strcmp(entry->name_space, writing->name_space) != 0)
        return 0;
    set_key(&wanted, entry->name_space, entry);
    const struct item *item = find_item(writing, &wanted);
    return item != NULL && item->layer == 0;
}

/* Puts the bundle of a namespace in front of the image's other layers. */
static ingot_status_t add_layer(struct writing *writing, const char *name_space)
{
    char path[LAYOUT_PATH_CAPACITY];
    struct layer layer = {.size = 0};
    uint64_t count = 0;
    writing->name_space = name_space;
    (void)snprintf(layer.name_space, sizeof(layer.name_space), "%s", name_space);
    layout_new_path(writing->directory, path);
    ingot_status_t status = ingot_persist_write_bundle(writing->storage, path, is_new, writing, &count);
    if (status == INGOT_SUCCESS && count != 0)
        status = layout_take_layer(writing->directory, &layer);
    else
        (void)unlink(path);
    if (status != INGOT_SUCCESS || count == 0)
        return status;
    if (!image_add(&writing->made, &layer))
        return out_of_memory();
    memmove(writing->made.layers + 1, writing->made.layers, (writing->made.count - 1) * sizeof(layer));
    writing->made.layers[0] = layer;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_image_write(ingot_storage_t storage, const char *directory, ingot_image_stats_t *stats)
{
    struct writing writing = {
        .storage = storage, .directory = directory, .stats = stats, .name_spaces = cJSON_CreateObject()};
    const cJSON *name;
    uint64_t total_bytes = 0;
    *stats = (ingot_image_stats_t){.entry_count = 0};
    ingot_status_t status = writing.name_spaces != NULL ? layout_make(directory) : out_of_memory();
    if (status == INGOT_SUCCESS)
        status = ingot_persist_for_each(storage, note_entry, &writing);
    if (writing.item_count > 1)
        qsort(writing.items, writing.item_count, sizeof(*writing.items), compare_items);
    if (status == INGOT_SUCCESS)
        status = keep_layers(&writing);
    cJSON_ArrayForEach(name, writing.name_spaces)
    {
        if (status == INGOT_SUCCESS)
            status = add_layer(&writing, name->string);
    }
    for (size_t i = 0; i < writing.item_count; ++i) {
        const struct item *item = &writing.items[i];
        total_bytes += item->size;
        ++stats->entry_count;
        stats->new_count += item->layer == 0;
        stats->new_bytes += item->layer == 0 ? item->size : 0;
    }
    if (status == INGOT_SUCCESS)
        status = layout_write_image(directory, &writing.made, stats->entry_count, total_bytes);
    cJSON_Delete(writing.name_spaces);
    free(writing.made.layers);
    free(writing.items);
    return status;
}

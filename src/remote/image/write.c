/*
 * write.c - writes the entries of a store as an image.
 *
 * Entries that a layer of the earlier image has, byte for byte, stay there; the layer's other entries are noted as
 * dead. All other entries become new bundles, one for each namespace. If a layer turns out to be mostly dead, all is
 * done again without it.
 */
#include <cjson/cJSON.h>
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/image/layout.h"
#include "util/error_text.h"

#define KEY_SIZE 32u
#define MOST_KEPT_LAYERS 256u /* of more, all entries are written anew */

/* An entry of the earlier image. */
struct place {
    uint8_t key[KEY_SIZE]; /* of the namespace, the id, and the blob with its seal */
    size_t layer;
    uint32_t number; /* in the layer */
    uint64_t size;
    bool is_alive; /* the store has the entry */
};

struct writing {
    ingot_storage_t storage;
    const char *directory;
    ingot_image_stats_t *stats;
    struct image old;
    struct image made;
    size_t place_count;
    struct place *places; /* ascending by key */
    ingot_storage_t bundle;
    size_t layer; /* the one of the earlier image that is read */
    const char *name_space;
    uint64_t total_bytes;
    bool is_out_of_memory;
};

static ingot_status_t out_of_memory(void)
{
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
}

static int compare_places(const void *a, const void *b)
{
    return memcmp(((const struct place *)a)->key, ((const struct place *)b)->key, KEY_SIZE);
}

/* Reads the blob of an entry, and sets key and size of its place. */
static ingot_status_t read_place(struct place *place, ingot_storage_t storage, const char *name_space,
                                 const ingot_persist_entry_t *entry)
{
    crypto_generichash_blake2b_state state;
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    if (entry->status != INGOT_SUCCESS)
        return ingot_set_error_detail(entry->status, "%s", entry->reason);
    const ingot_status_t status = ingot_persist_load_entry(storage, entry, 1, &kept);
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t id_size = entry->id_size;
    *place = (struct place){.size = id_size + kept.size};
    (void)crypto_generichash_blake2b_init(&state, NULL, 0, KEY_SIZE);
    (void)crypto_generichash_blake2b_update(&state, (const uint8_t *)name_space, strlen(name_space) + 1);
    (void)crypto_generichash_blake2b_update(&state, (const uint8_t *)&id_size, sizeof(id_size));
    (void)crypto_generichash_blake2b_update(&state, entry->id, entry->id_size);
    (void)crypto_generichash_blake2b_update(&state, kept.bytes, kept.size);
    (void)crypto_generichash_blake2b_final(&state, place->key, KEY_SIZE);
    kept.release(&kept);
    return INGOT_SUCCESS;
}

/* ---- the earlier image ---- */

static ingot_status_t note_place(const ingot_persist_entry_t *entry, void *user)
{
    struct writing *writing = user;
    struct place place;
    const ingot_status_t status =
        read_place(&place, writing->bundle, writing->old.layers[writing->layer].name_space, entry);
    if (status != INGOT_SUCCESS) /* a damaged entry is none */
        return status == INGOT_OUT_OF_MEMORY ? status : INGOT_SUCCESS;
    place.layer = writing->layer;
    place.number = (uint32_t)entry->identity;
    struct place *places = realloc(writing->places, (writing->place_count + 1) * sizeof(*places));
    if (places == NULL)
        return out_of_memory();
    writing->places = places;
    places[writing->place_count++] = place;
    return INGOT_SUCCESS;
}

/* True if an image, or a layer, is missing or of no use. Another failure may pass, and what could not be read then must
 * not be removed. */
static bool is_unusable(ingot_status_t status)
{
    return status == INGOT_NOT_FOUND || status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED ||
           status == INGOT_BLOB_VERSION || status == INGOT_UNTRUSTED;
}

static ingot_status_t read_old(struct writing *writing)
{
    ingot_status_t status = layout_read_image(writing->directory, &writing->old);
    status = is_unusable(status) ? INGOT_SUCCESS : status;
    for (size_t i = 0; i < writing->old.count && status == INGOT_SUCCESS; ++i) {
        writing->layer = i;
        if (writing->old.count > MOST_KEPT_LAYERS)
            break;
        status = layout_open_layer(writing->directory, &writing->old.layers[i], &writing->bundle);
        if (status == INGOT_SUCCESS) {
            status = ingot_persist_for_each(writing->bundle, note_place, writing);
            ingot_storage_release(writing->bundle);
        }
        status = is_unusable(status) ? INGOT_SUCCESS : status;
    }
    if (writing->place_count > 1)
        qsort(writing->places, writing->place_count, sizeof(*writing->places), compare_places);
    return status;
}

/* ---- the store ---- */

static ingot_status_t note_name_space(const ingot_persist_entry_t *entry, void *names)
{
    if (cJSON_GetObjectItemCaseSensitive(names, entry->name_space) == NULL &&
        cJSON_AddTrueToObject(names, entry->name_space) == NULL)
        return out_of_memory();
    return INGOT_SUCCESS;
}

/* Counts an entry. Returns 1 if it belongs to the new bundle of its namespace. */
static int take_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct writing *writing = user;
    ingot_image_stats_t *stats = writing->stats;
    struct place wanted;
    if (strcmp(entry->name_space, writing->name_space) != 0)
        return 0;
    const ingot_status_t status = read_place(&wanted, writing->storage, entry->name_space, entry);
    if (status == INGOT_NOT_FOUND)
        return 0; /* evicted in the meantime */
    if (status != INGOT_SUCCESS) {
        writing->is_out_of_memory |= status == INGOT_OUT_OF_MEMORY;
        ++stats->failed_count;
        error_text_copy(stats->reason, sizeof(stats->reason), ingot_last_error_detail());
        return 0;
    }
    struct place *place = writing->place_count != 0
                              ? bsearch(&wanted, writing->places, writing->place_count, sizeof(wanted), compare_places)
                              : NULL;
    ++stats->entry_count;
    writing->total_bytes += wanted.size;
    stats->present_count += place != NULL;
    stats->moved_count += place == NULL;
    stats->moved_bytes += place == NULL ? wanted.size : 0;
    if (place != NULL)
        place->is_alive = true;
    return place == NULL;
}

static ingot_status_t write_layer(struct writing *writing, const char *name_space)
{
    char path[LAYOUT_PATH_CAPACITY];
    struct layer layer = {.dead = NULL};
    uint64_t count = 0;
    writing->name_space = name_space;
    (void)snprintf(layer.name_space, sizeof(layer.name_space), "%s", name_space);
    layout_new_path(writing->directory, path);
    ingot_status_t status = ingot_persist_write_bundle(writing->storage, path, take_entry, writing, &count);
    if (status == INGOT_SUCCESS && writing->is_out_of_memory)
        status = out_of_memory();
    if (status == INGOT_SUCCESS && count != 0)
        status = layout_take_layer(writing->directory, &layer);
    else
        (void)unlink(path);
    if (status != INGOT_SUCCESS || count == 0)
        return status;
    layer.dead = strdup("");
    return layer.dead != NULL && image_add(&writing->made, &layer) ? status : out_of_memory();
}

static int compare_numbers(const void *a, const void *b)
{
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

/* Takes over a layer of the earlier image. If it is mostly dead, forgets its places instead, and sets *is_given_up. */
static ingot_status_t settle_layer(struct writing *writing, size_t number, bool *is_given_up)
{
    struct layer layer = writing->old.layers[number];
    uint64_t living_bytes = 0;
    size_t dead_count = 0;
    size_t kept = 0;
    size_t used = 0;
    uint32_t *dead = calloc(writing->place_count + 1, sizeof(*dead));
    if (dead == NULL)
        return out_of_memory();
    for (size_t i = 0; i < writing->place_count; ++i) {
        const struct place *place = &writing->places[i];
        living_bytes += place->layer == number && place->is_alive ? place->size : 0;
        if (place->layer == number && !place->is_alive)
            dead[dead_count++] = place->number;
    }
    layer.dead = NULL;
    if (living_bytes != 0 && living_bytes >= layer.size / 2) {
        qsort(dead, dead_count, sizeof(*dead), compare_numbers);
        layer.dead = calloc(dead_count + 1, 11); /* a number of 32 bits, and a comma */
        for (size_t i = 0; layer.dead != NULL && i < dead_count; ++i)
            used += (size_t)sprintf(layer.dead + used, "%s%u", i != 0 ? "," : "", (unsigned)dead[i]);
        free(dead);
        return layer.dead != NULL && image_add(&writing->made, &layer) ? INGOT_SUCCESS : out_of_memory();
    }
    *is_given_up |= living_bytes != 0;
    for (size_t i = 0; i < writing->place_count; ++i)
        if (writing->places[i].layer != number)
            writing->places[kept++] = writing->places[i];
    writing->place_count = kept;
    free(dead);
    return INGOT_SUCCESS;
}

/* Makes the layers of the new image. */
static ingot_status_t make_layers(struct writing *writing, const cJSON *names)
{
    ingot_status_t status = INGOT_SUCCESS;
    bool is_again = true;
    while (is_again && status == INGOT_SUCCESS) {
        const cJSON *name;
        is_again = false;
        image_fini(&writing->made);
        *writing->stats = (ingot_image_stats_t){.entry_count = 0};
        writing->total_bytes = 0;
        cJSON_ArrayForEach(name, names)
        {
            if (status == INGOT_SUCCESS)
                status = write_layer(writing, name->string);
        }
        for (size_t i = 0; i < writing->old.count && status == INGOT_SUCCESS; ++i)
            status = settle_layer(writing, i, &is_again);
    }
    return status;
}

ingot_status_t ingot_image_write(ingot_storage_t storage, const char *directory, ingot_image_stats_t *stats)
{
    struct writing writing = {.storage = storage, .directory = directory, .stats = stats};
    cJSON *names = cJSON_CreateObject();
    ingot_status_t status = names != NULL ? layout_make(directory) : out_of_memory();
    if (status == INGOT_SUCCESS)
        status = read_old(&writing);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_for_each(storage, note_name_space, names);
    if (status == INGOT_SUCCESS)
        status = make_layers(&writing, names);
    if (status == INGOT_SUCCESS)
        status = layout_write_image(directory, &writing.made, stats->entry_count, writing.total_bytes);
    cJSON_Delete(names);
    image_fini(&writing.old);
    image_fini(&writing.made);
    free(writing.places);
    return status;
}

/*
 * write.c - writes the entries of a store as an image.
 *
 * Entries that a layer of the earlier image has, byte for byte, stay where they are; the layer's entries that the store
 * does not have any more are noted as dead. A layer that is mostly dead is given up, and its living entries are copied
 * to a new layer, as all entries are that no layer has.
 */
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "remote/image/layout.h"
#include "remote/object/envelope.h"
#include "util/entry_kind.h"
#include "util/error_text.h"
#include "util/little_endian.h"

#define KEY_SIZE 32u
#define MOST_KEPT_LAYERS 256u /* of more, all are packed anew */
#define MOST_LAYER_BYTES (UINT64_C(2) << 30)

/* An entry of the earlier image. */
struct place {
    uint8_t key[KEY_SIZE]; /* a digest of all its bytes but the blob, of which there is a checksum */
    uint32_t layer;
    uint32_t number; /* in the layer */
    size_t offset;
    size_t size;
    bool is_alive;
};

struct writing {
    ingot_storage_t storage;
    const char *directory;
    ingot_image_stats_t *stats;
    struct image old;
    size_t place_count;
    struct place *places; /* ascending by key */
    struct image made;
    size_t pack_size;
    uint8_t *pack; /* the layer that is being filled */
    uint64_t total_bytes;
    ingot_status_t status; /* the failure that ended the writing */
};

static void key_of(const struct layer_entry *entry, uint8_t key[KEY_SIZE])
{
    crypto_generichash_blake2b_state state;
    (void)crypto_generichash_blake2b_init(&state, NULL, 0, KEY_SIZE);
    (void)crypto_generichash_blake2b_update(&state, (const uint8_t *)entry->name_space, strlen(entry->name_space) + 1);
    (void)crypto_generichash_blake2b_update(&state, entry->object, ENVELOPE_HEADER_SIZE + entry->id_size);
    (void)crypto_generichash_blake2b_final(&state, key, KEY_SIZE);
}

static int compare_places(const void *a, const void *b)
{
    return memcmp(((const struct place *)a)->key, ((const struct place *)b)->key, KEY_SIZE);
}

/* ---- the earlier image ---- */

/* Finds the entries of a layer. Returns false if memory runs out. A layer that cannot be read has none. */
static bool find_places(struct writing *writing, uint32_t number)
{
    const struct layer *layer = &writing->old.layers[number];
    struct layout_file file = {0, NULL};
    struct layer_entry entry;
    bool has_memory = true;
    const bool is_usable = !layer->is_foreign && layout_read_blob(writing->directory, layer->digest, layer->size,
                                                                  MOST_LAYER_BYTES, &file) == INGOT_SUCCESS;
    size_t at = 0;
    for (uint32_t i = 0; is_usable && has_memory && layer_read_entry(file.size - at, file.bytes + at, &entry); ++i) {
        struct place *places = realloc(writing->places, (writing->place_count + 1) * sizeof(*places));
        has_memory = places != NULL;
        if (!has_memory)
            break;
        writing->places = places;
        places[writing->place_count] = (struct place){.layer = number, .number = i, .offset = at, .size = entry.size};
        key_of(&entry, places[writing->place_count++].key);
        at += entry.size;
    }
    free(file.bytes);
    return has_memory;
}

static ingot_status_t read_old(struct writing *writing)
{
    const ingot_status_t status = layout_read_image(writing->directory, &writing->old);
    if (status == INGOT_OUT_OF_MEMORY)
        return status;
    for (uint32_t i = 0; i < writing->old.count; ++i)
        if (!find_places(writing, i))
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the earlier image");
    if (writing->place_count > 1)
        qsort(writing->places, writing->place_count, sizeof(*writing->places), compare_places);
    return INGOT_SUCCESS;
}

/* ---- new layers ---- */

static ingot_status_t write_pack(struct writing *writing)
{
    char digest[LAYOUT_DIGEST_CAPACITY];
    if (writing->pack_size == 0)
        return INGOT_SUCCESS;
    if (writing->made.count >= LAYOUT_MOST_LAYERS)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the store is too large for one image");
    const ingot_status_t status = layout_write_blob(writing->directory, writing->pack_size, writing->pack, digest);
    if (status != INGOT_SUCCESS)
        return status;
    if (image_add(&writing->made, digest, writing->pack_size) == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    writing->pack_size = 0;
    return INGOT_SUCCESS;
}

static ingot_status_t append_entry(struct writing *writing, size_t size, const uint8_t *bytes)
{
    const ingot_status_t status = writing->pack_size + size > LAYOUT_PACK_BYTES ? write_pack(writing) : INGOT_SUCCESS;
    if (status != INGOT_SUCCESS)
        return status;
    const size_t capacity = writing->pack_size + size > LAYOUT_PACK_BYTES ? size : LAYOUT_PACK_BYTES;
    uint8_t *pack = realloc(writing->pack, capacity);
    if (pack == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a layer");
    writing->pack = pack;
    memcpy(pack + writing->pack_size, bytes, size);
    writing->pack_size += size;
    return INGOT_SUCCESS;
}

/* Makes the bytes of an entry, which the caller frees. They have no time, and are not compressed, so that equal entries
 * have equal bytes wherever they were stored. */
static ingot_status_t make_entry(const struct writing *writing, const ingot_persist_entry_t *entry, size_t *size,
                                 uint8_t **bytes)
{
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    uint8_t *object = NULL;
    size_t object_size = 0;
    const size_t head = LAYOUT_FRAME_SIZE + strlen(entry->name_space);
    ingot_status_t status = entry->status;
    if (status != INGOT_SUCCESS)
        return ingot_set_error_detail(status, "%s", entry->reason);
    status = ingot_persist_load_entry(writing->storage, entry, 1, &kept);
    if (status == INGOT_SUCCESS)
        status = envelope_encode(entry->id_size, entry->id, kept.size, kept.bytes, 0, 0, &object_size, &object);
    if (kept.release != NULL)
        kept.release(&kept);
    if (status != INGOT_SUCCESS)
        return status;
    *size = head + object_size;
    *bytes = calloc(1, *size);
    if (*bytes != NULL) {
        le_put_u32(*bytes, (uint32_t)(head - LAYOUT_FRAME_SIZE));
        memcpy(*bytes + LAYOUT_FRAME_SIZE, entry->name_space, head - LAYOUT_FRAME_SIZE);
        memcpy(*bytes + head, object, object_size);
    }
    free(object);
    return *bytes != NULL ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an entry");
}

static ingot_status_t write_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct writing *writing = user;
    struct layer_entry parsed;
    struct place wanted;
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (entry_kind_of(entry->id_size, entry->id) == ENTRY_PROBES)
        return INGOT_SUCCESS;
    ingot_status_t status = make_entry(writing, entry, &size, &bytes);
    if (status == INGOT_NOT_FOUND)
        return INGOT_SUCCESS; /* evicted in the meantime */
    if (status == INGOT_SUCCESS && !layer_read_entry(size, bytes, &parsed))
        status = ingot_set_error_detail(INGOT_NO_SPACE, "an entry does not fit into an image");
    if (status != INGOT_SUCCESS) {
        ++writing->stats->failed_count;
        error_text_copy(writing->stats->reason, sizeof(writing->stats->reason), ingot_last_error_detail());
        free(bytes);
        return status == INGOT_OUT_OF_MEMORY ? status : INGOT_SUCCESS;
    }
    key_of(&parsed, wanted.key);
    struct place *place = writing->place_count != 0
                              ? bsearch(&wanted, writing->places, writing->place_count, sizeof(wanted), compare_places)
                              : NULL;
    ++writing->stats->entry_count;
    writing->total_bytes += size;
    if (place != NULL) {
        place->is_alive = true;
        ++writing->stats->present_count;
    } else {
        status = append_entry(writing, size, bytes);
        ++writing->stats->moved_count;
        writing->stats->moved_bytes += size;
    }
    free(bytes);
    return writing->status = status;
}

/* ---- layers that stay ---- */

/* Copies the living entries of a layer that is given up. */
static ingot_status_t copy_living(struct writing *writing, uint32_t number)
{
    const struct layer *layer = &writing->old.layers[number];
    struct layout_file file = {0, NULL};
    ingot_status_t status = layout_read_blob(writing->directory, layer->digest, layer->size, MOST_LAYER_BYTES, &file);
    for (size_t i = 0; i < writing->place_count && status == INGOT_SUCCESS; ++i) {
        const struct place *place = &writing->places[i];
        if (place->layer == number && place->is_alive)
            status = append_entry(writing, place->size, file.bytes + place->offset);
    }
    free(file.bytes);
    return status;
}

static int compare_numbers(const void *a, const void *b)
{
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

/* Takes over a layer, with the numbers of its entries that are dead now. */
static ingot_status_t keep_layer(struct writing *writing, uint32_t number, size_t entry_count)
{
    const struct layer *old = &writing->old.layers[number];
    struct layer *layer = image_add(&writing->made, old->digest, old->size);
    uint32_t *dead = layer != NULL ? calloc(entry_count + 1, sizeof(*dead)) : NULL;
    if (dead == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    layer->dead = dead;
    for (size_t i = 0; i < writing->place_count; ++i)
        if (writing->places[i].layer == number && !writing->places[i].is_alive)
            dead[layer->dead_count++] = writing->places[i].number;
    qsort(dead, layer->dead_count, sizeof(*dead), compare_numbers);
    return INGOT_SUCCESS;
}

static ingot_status_t settle_layer(struct writing *writing, uint32_t number)
{
    uint64_t living_bytes = 0;
    size_t entry_count = 0;
    for (size_t i = 0; i < writing->place_count; ++i) {
        const struct place *place = &writing->places[i];
        entry_count += place->layer == number;
        living_bytes += place->layer == number && place->is_alive ? place->size : 0;
    }
    if (living_bytes == 0)
        return INGOT_SUCCESS;
    const bool is_kept = living_bytes >= writing->old.layers[number].size / 2 && writing->old.count <= MOST_KEPT_LAYERS;
    return is_kept ? keep_layer(writing, number, entry_count) : copy_living(writing, number);
}

ingot_status_t ingot_image_write(ingot_storage_t storage, const char *directory, ingot_image_stats_t *stats)
{
    struct writing writing = {.storage = storage, .directory = directory, .stats = stats};
    *stats = (ingot_image_stats_t){.entry_count = 0};
    ingot_status_t status = layout_make(directory);
    if (status == INGOT_SUCCESS)
        status = read_old(&writing);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_for_each(storage, write_entry, &writing);
    for (uint32_t i = 0; i < writing.old.count && status == INGOT_SUCCESS; ++i)
        status = settle_layer(&writing, i);
    if (status == INGOT_SUCCESS)
        status = write_pack(&writing);
    if (status == INGOT_SUCCESS)
        status = layout_write_image(directory, &writing.made, stats->entry_count, writing.total_bytes);
    image_fini(&writing.old);
    image_fini(&writing.made);
    free(writing.places);
    free(writing.pack);
    return status;
}

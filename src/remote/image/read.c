/*
 * read.c - stores the entries of an image that a store lacks.
 */
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <stdlib.h>
#include <string.h>

#include "remote/image/layout.h"
#include "remote/object/envelope.h"
#include "util/error_text.h"

#define MOST_LAYER_BYTES (UINT64_C(2) << 30)

struct reading {
    const char *directory;
    ingot_image_open_t open;
    void *user;
    ingot_image_stats_t *stats;
    bool is_open; /* name_space, status and storage are those of the last entry */
    char name_space[LAYOUT_MOST_NAME_SPACE_BYTES + 1];
    ingot_status_t status;
    ingot_storage_t storage; /* NULL: the entries of the namespace are not stored */
};

/* Counts an entry, or a layer, that failed with the thread's error detail. */
static void note_failure(struct reading *reading)
{
    ++reading->stats->failed_count;
    error_text_copy(reading->stats->reason, sizeof(reading->stats->reason), ingot_last_error_detail());
}

/* Opens the storage of a namespace unless it is the one of the last entry. */
static void open_name_space(struct reading *reading, const char *name_space)
{
    if (reading->is_open && strcmp(reading->name_space, name_space) == 0)
        return;
    ingot_storage_release(reading->storage);
    reading->is_open = true;
    reading->status = INGOT_SUCCESS;
    (void)strcpy(reading->name_space, name_space);
    reading->storage = reading->open(reading->user, name_space, &reading->status);
}

static ingot_status_t store_entry(struct reading *reading, const struct layer_entry *entry)
{
    struct envelope_blob blob = {.size = 0};
    ingot_buffer_t present = INGOT_BUFFER_INIT;
    if (ingot_storage_load(reading->storage, entry->id_size, entry->id, &present) == INGOT_SUCCESS) {
        if (present.release != NULL)
            present.release(&present);
        ++reading->stats->present_count;
        return INGOT_SUCCESS;
    }
    ingot_status_t status =
        envelope_decode(entry->object_size, entry->object, entry->id_size, entry->id, (size_t)MOST_LAYER_BYTES, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_store_sealed(reading->storage, entry->id_size, entry->id, blob.size, blob.bytes);
    free(blob.unpacked);
    if (status == INGOT_SUCCESS) {
        ++reading->stats->moved_count;
        reading->stats->moved_bytes += entry->object_size;
    }
    return status;
}

static void read_entry(struct reading *reading, const struct layer_entry *entry)
{
    ++reading->stats->entry_count;
    open_name_space(reading, entry->name_space);
    if (reading->storage == NULL && reading->status == INGOT_SUCCESS)
        return; /* not wanted */
    if (reading->storage == NULL || store_entry(reading, entry) != INGOT_SUCCESS)
        note_failure(reading);
}

static ingot_status_t read_layer(struct reading *reading, const struct layer *layer)
{
    struct layout_file file = {0, NULL};
    struct layer_entry entry;
    ingot_status_t status = INGOT_SUCCESS;
    if (layer->is_foreign)
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the layer %s is not one of Ingot's", layer->digest);
    else
        status = layout_read_blob(reading->directory, layer->digest, layer->size, MOST_LAYER_BYTES, &file);
    size_t at = 0;
    for (uint32_t number = 0; status == INGOT_SUCCESS && at < file.size; ++number) {
        if (!layer_read_entry(file.size - at, file.bytes + at, &entry))
            status =
                ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the layer %s has no entry at byte %zu", layer->digest, at);
        else if (!layer_is_dead(layer, number))
            read_entry(reading, &entry);
        at += entry.size;
    }
    free(file.bytes);
    if (status != INGOT_SUCCESS && status != INGOT_OUT_OF_MEMORY)
        note_failure(reading);
    return status == INGOT_OUT_OF_MEMORY ? status : INGOT_SUCCESS;
}

ingot_status_t ingot_image_read(const char *directory, ingot_image_open_t open, void *user, ingot_image_stats_t *stats)
{
    struct image image;
    struct reading reading = {.directory = directory, .open = open, .user = user, .stats = stats};
    *stats = (ingot_image_stats_t){.entry_count = 0};
    ingot_status_t status = layout_read_image(directory, &image);
    for (size_t i = 0; i < image.count && status == INGOT_SUCCESS; ++i)
        status = read_layer(&reading, &image.layers[i]);
    ingot_storage_release(reading.storage);
    image_fini(&image);
    return status;
}

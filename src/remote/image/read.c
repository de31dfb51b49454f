/*
 * read.c - stores the entries of an image that a store lacks.
 */
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <stdlib.h>

#include "remote/image/layout.h"
#include "util/entry_kind.h"
#include "util/error_text.h"

struct reading {
    ingot_image_stats_t *stats;
    ingot_storage_t bundle;  /* the layer that is read */
    ingot_storage_t storage; /* of its namespace */
    const char *dead;        /* the numbers of the layer's dead entries from here on, ascending */
};

/* Counts an entry, or a layer, that failed with the thread's error detail. */
static void note_failure(ingot_image_stats_t *stats)
{
    ++stats->failed_count;
    error_text_copy(stats->reason, sizeof(stats->reason), ingot_last_error_detail());
}

static ingot_status_t store_entry(struct reading *reading, const ingot_persist_entry_t *entry)
{
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    if (entry->status != INGOT_SUCCESS)
        return ingot_set_error_detail(entry->status, "%s", entry->reason);
    if (entry_kind_of(entry->id_size, entry->id) == ENTRY_PROBES)
        return ingot_set_error_detail(INGOT_UNTRUSTED, "an image has no probes, which only their machine may use");
    if (ingot_storage_load(reading->storage, entry->id_size, entry->id, &kept) == INGOT_SUCCESS) {
        kept.release(&kept);
        ++reading->stats->present_count;
        return INGOT_SUCCESS;
    }
    ingot_status_t status = ingot_persist_load_entry(reading->bundle, entry, 1, &kept);
    if (status != INGOT_SUCCESS)
        return status;
    status = ingot_persist_store_sealed(reading->storage, entry->id_size, entry->id, kept.size, kept.bytes);
    if (status == INGOT_SUCCESS) {
        ++reading->stats->moved_count;
        reading->stats->moved_bytes += kept.size;
    }
    kept.release(&kept);
    return status;
}

static ingot_status_t read_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct reading *reading = user;
    char *end = NULL;
    if (reading->dead[0] != '\0' && strtoull(reading->dead, &end, 10) == entry->identity) {
        reading->dead = *end == ',' ? end + 1 : "";
        return INGOT_SUCCESS;
    }
    ++reading->stats->entry_count;
    if (store_entry(reading, entry) != INGOT_SUCCESS)
        note_failure(reading->stats);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_image_read(const char *directory, ingot_image_open_t open, void *user, ingot_image_stats_t *stats)
{
    struct image image;
    *stats = (ingot_image_stats_t){.entry_count = 0};
    const ingot_status_t found = layout_read_image(directory, &image);
    for (size_t i = 0; found == INGOT_SUCCESS && i < image.count; ++i) {
        const struct layer *layer = &image.layers[i];
        struct reading reading = {.stats = stats, .dead = layer->dead};
        ingot_status_t status = layout_open_layer(directory, layer, &reading.bundle);
        if (status == INGOT_SUCCESS)
            reading.storage = open(user, layer->name_space, &status);
        if (reading.storage != NULL)
            status = ingot_persist_for_each(reading.bundle, read_entry, &reading);
        if (status != INGOT_SUCCESS)
            note_failure(stats);
        ingot_storage_release(reading.storage);
        ingot_storage_release(reading.bundle);
    }
    if (found == INGOT_SUCCESS)
        image_fini(&image);
    return found;
}

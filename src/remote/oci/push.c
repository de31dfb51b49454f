/*
 * push.c - stores the entries of a store as an image.
 *
 * The first pass over the store finds the entries that the earlier image has, byte for byte, and keeps them where they
 * are. A layer of which less than half is still used is given up. The second pass packs all other entries into new
 * layers, in the store's order, so that a repeated push makes the same layers, which the registry then has already.
 */
#include <cjson/cJSON.h>
#include <ingot/backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/object/envelope.h"
#include "remote/oci/job.h"

#define MOST_OLD_LAYERS 256u /* of more, all are packed anew */
#define NOTE_CAPACITY 512u

/* A list of different texts, joined by ", ", for people and schedulers. */
struct note {
    char text[NOTE_CAPACITY];
};

struct pushing {
    struct job job;
    struct image made;
    uint64_t *used; /* bytes that are used of each layer of the earlier image */
    bool *is_kept;  /* for each entry of the earlier image */
    size_t pack_size;
    uint8_t *pack; /* the layer that is being filled */
    uint64_t total_bytes;
    struct note devices;
    struct note drivers;
    struct note compilers;
};

/* An entry of the store, as the bytes that a layer holds for it. */
struct packed {
    struct image_entry entry;
    uint8_t *bytes; /* the caller frees them */
};

static ingot_status_t pack_entry(struct job *job, const ingot_persist_entry_t *entry, struct packed *packed)
{
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    size_t size = 0;
    ingot_status_t status = ingot_persist_load_entry(job->storage, entry, 1, &kept);
    if (status != INGOT_SUCCESS)
        return status;
    if (kept.size > job->max_blob_bytes)
        status = ingot_set_error_detail(INGOT_NO_SPACE, "a blob has %zu bytes, and the limit is %zu", kept.size,
                                        job->max_blob_bytes);
    else /* no time, so that equal entries have equal bytes wherever they were stored */
        status = envelope_encode(entry->id_size, entry->id, kept.size, kept.bytes, 0, 0, &size, &packed->bytes);
    if (kept.release != NULL)
        kept.release(&kept);
    if (status != INGOT_SUCCESS)
        return status;
    image_key_of(entry->id_size, entry->id, packed->entry.key);
    packed->entry.size = size;
    image_digest(size, packed->bytes, packed->entry.digest);
    return INGOT_SUCCESS;
}

/* ---- notes ---- */

static void add_text(struct note *note, const char *text)
{
    const size_t length = strlen(note->text);
    const size_t more = strlen(text);
    if (more == 0 || strstr(note->text, text) != NULL || length + more + 3 > sizeof(note->text))
        return;
    (void)snprintf(note->text + length, sizeof(note->text) - length, "%s%s", length != 0 ? ", " : "", text);
}

/* Adds an entry's device, driver and compiler to the notes. */
static void add_entry_to_notes(struct pushing *pushing, const ingot_persist_entry_t *entry)
{
    size_t size = 0;
    const cJSON *field = NULL;
    char *text = NULL;
    if (ingot_cache_blob_id_describe(entry->id_size, entry->id, &size, NULL) == INGOT_SUCCESS)
        text = malloc(size);
    if (text == NULL || ingot_cache_blob_id_describe(entry->id_size, entry->id, &size, text) != INGOT_SUCCESS) {
        free(text);
        return;
    }
    cJSON *json = cJSON_Parse(text);
    cJSON_ArrayForEach(field, json)
    {
        const char *part = strrchr(field->string, '.');
        part = part != NULL ? part + 1 : field->string;
        if (!cJSON_IsString(field))
            continue;
        if (strcmp(part, "device_name") == 0)
            add_text(&pushing->devices, field->valuestring);
        else if (strcmp(part, "driver_version") == 0)
            add_text(&pushing->drivers, field->valuestring);
        else if (strncmp(part, "compiler", 8) == 0 || strncmp(field->string, "compiler", 8) == 0)
            add_text(&pushing->compilers, field->valuestring);
    }
    cJSON_Delete(json);
    free(text);
}

/* ---- the first pass ---- */

static ingot_status_t examine_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct pushing *pushing = user;
    struct job *job = &pushing->job;
    struct packed packed = {.bytes = NULL};
    const ingot_status_t status = entry->status == INGOT_SUCCESS
                                      ? pack_entry(job, entry, &packed)
                                      : ingot_set_error_detail(entry->status, "%s", entry->reason);
    if (status != INGOT_SUCCESS) {
        ++job->stats.failed_count;
        return INGOT_SUCCESS;
    }
    const struct image_entry *old = image_find(&job->image, packed.entry.key);
    if (old != NULL && memcmp(old->digest, packed.entry.digest, sizeof(old->digest)) == 0) {
        pushing->is_kept[old - job->image.entries] = true;
        pushing->used[old->layer] += old->size;
    }
    free(packed.bytes);
    add_entry_to_notes(pushing, entry);
    ++job->stats.entry_count;
    return INGOT_SUCCESS;
}

static bool is_worth_keeping(const struct pushing *pushing, uint32_t layer)
{
    const struct image *old = &pushing->job.image;
    return old->layer_count <= MOST_OLD_LAYERS && pushing->used[layer] >= old->layers[layer].size / 2 &&
           pushing->used[layer] != 0;
}

/* Takes over layers and entries of the earlier image. Entries of a layer that is given up are packed anew. */
static void keep_old(struct pushing *pushing)
{
    const struct image *old = &pushing->job.image;
    struct image *made = &pushing->made;
    uint32_t *numbers = calloc(old->layer_count + 1, sizeof(*numbers));
    for (uint32_t i = 0; i < old->layer_count && numbers != NULL; ++i) {
        numbers[i] = (uint32_t)made->layer_count;
        if (is_worth_keeping(pushing, i))
            made->layers[made->layer_count++] = old->layers[i];
    }
    for (size_t i = 0; i < old->entry_count; ++i) {
        const struct image_entry *entry = &old->entries[i];
        pushing->is_kept[i] = pushing->is_kept[i] && numbers != NULL && is_worth_keeping(pushing, entry->layer);
        if (!pushing->is_kept[i])
            continue;
        made->entries[made->entry_count] = *entry;
        made->entries[made->entry_count++].layer = numbers[entry->layer];
        pushing->total_bytes += entry->size;
    }
    pushing->job.stats.present_count = made->entry_count;
    free(numbers);
}

/* ---- the second pass ---- */

static bool put_blob(struct job *job, size_t size, const void *bytes, struct image_blob *blob)
{
    struct request request = job_request(job, size);
    bool is_sent = false;
    blob->size = size;
    return job_judge(job, &request, registry_put_blob(&job->registry, &request, size, bytes, blob->digest, &is_sent));
}

/* Stores the layer that is being filled. Returns false if the job must end. */
static bool put_layer(struct pushing *pushing)
{
    struct job *job = &pushing->job;
    struct image *made = &pushing->made;
    if (pushing->pack_size == 0)
        return true;
    if (made->layer_count >= IMAGE_MOST_LAYERS) {
        job->status = ingot_set_error_detail(INGOT_NO_SPACE, "the store is too large for one image");
        return false;
    }
    if (!put_blob(job, pushing->pack_size, pushing->pack, &made->layers[made->layer_count]))
        return false;
    ++made->layer_count;
    pushing->pack_size = 0;
    return true;
}

static bool append_to_pack(struct pushing *pushing, const struct packed *packed)
{
    struct job *job = &pushing->job;
    const size_t size = (size_t)packed->entry.size;
    if (pushing->pack_size + size > JOB_PACK_BYTES && !put_layer(pushing))
        return false;
    uint8_t *longer =
        realloc(pushing->pack, pushing->pack_size + size > JOB_PACK_BYTES ? pushing->pack_size + size : JOB_PACK_BYTES);
    if (longer == NULL) {
        job->status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a layer");
        return false;
    }
    pushing->pack = longer;
    struct image_entry *entry = &pushing->made.entries[pushing->made.entry_count++];
    *entry = packed->entry;
    entry->layer = (uint32_t)pushing->made.layer_count;
    entry->offset = pushing->pack_size;
    memcpy(pushing->pack + pushing->pack_size, packed->bytes, size);
    pushing->pack_size += size;
    pushing->total_bytes += size;
    ++job->stats.moved_count;
    job->stats.moved_bytes += size;
    return true;
}

static ingot_status_t send_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct pushing *pushing = user;
    struct job *job = &pushing->job;
    struct packed packed = {.bytes = NULL};
    uint8_t key[IMAGE_KEY_SIZE];
    if (entry->status != INGOT_SUCCESS || entry->id == NULL ||
        pushing->made.entry_count >= job->stats.entry_count) /* more entries than in the first pass */
        return INGOT_SUCCESS;
    image_key_of(entry->id_size, entry->id, key);
    const struct image_entry *old = image_find(&job->image, key);
    if (old != NULL && pushing->is_kept[old - job->image.entries])
        return INGOT_SUCCESS;
    const bool goes_on = pack_entry(job, entry, &packed) != INGOT_SUCCESS || append_to_pack(pushing, &packed);
    free(packed.bytes);
    return goes_on ? INGOT_SUCCESS : job->status;
}

/* ---- the image ---- */

/* Removes entries with the same key, which lie in several namespaces of the store. */
static void remove_doubles(struct image *image)
{
    size_t count = 0;
    image_sort(image);
    for (size_t i = 0; i < image->entry_count; ++i) {
        if (count == 0 || memcmp(image->entries[count - 1].key, image->entries[i].key, IMAGE_KEY_SIZE) != 0)
            image->entries[count++] = image->entries[i];
    }
    image->entry_count = count;
}

static bool put_image(struct pushing *pushing)
{
    struct job *job = &pushing->job;
    struct image *made = &pushing->made;
    char count[32];
    char bytes[32];
    const struct image_note notes[] = {{"ingot.store/entry-count", count},
                                       {"ingot.store/size-bytes", bytes},
                                       {"ingot.store/devices", pushing->devices.text},
                                       {"ingot.store/drivers", pushing->drivers.text},
                                       {"ingot.store/compilers", pushing->compilers.text},
                                       {"io.kserve.km/framework", "ingot"}, /* names of KServe and GKM */
                                       {"io.kserve.km/cache-type", "ingot-store"}};
    const size_t note_count = sizeof(notes) / sizeof(notes[0]);
    size_t index_size = 0;
    remove_doubles(made);
    (void)snprintf(count, sizeof(count), "%zu", made->entry_count);
    (void)snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)pushing->total_bytes);
    uint8_t *index = image_write_index(made, &index_size);
    bool is_done = index != NULL && put_blob(job, index_size, index, &made->index);
    free(index);
    char *config = is_done ? image_write_config(made, note_count, notes) : NULL;
    is_done = config != NULL && put_blob(job, strlen(config), config, &made->config);
    char *manifest = is_done ? image_write_manifest(made, strlen(config), note_count, notes) : NULL;
    struct request request = job_request(job, 0);
    if (manifest != NULL)
        is_done = job_judge(job, &request, registry_put_manifest(&job->registry, &request, strlen(manifest), manifest));
    else if (job->status == INGOT_SUCCESS)
        job->status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    cJSON_free(config);
    cJSON_free(manifest);
    return is_done && manifest != NULL;
}

/* Reads the earlier image. An image that cannot be used is replaced, but one that is not Ingot's is not. */
static bool load_old(struct pushing *pushing)
{
    struct job *job = &pushing->job;
    struct request request;
    const enum outcome outcome = job_load_image(job, &request);
    if (outcome != OUTCOME_MISSING && !job_judge(job, &request, outcome))
        return false;
    pushing->used = calloc(job->image.layer_count + 1, sizeof(*pushing->used));
    pushing->is_kept = calloc(job->image.entry_count + 1, sizeof(*pushing->is_kept));
    if (pushing->used != NULL && pushing->is_kept != NULL)
        return true;
    job->status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    return false;
}

static void push_image(struct pushing *pushing)
{
    struct job *job = &pushing->job;
    if (!load_old(pushing))
        return;
    job->status = ingot_persist_for_each(job->storage, examine_entry, pushing);
    if (job->status != INGOT_SUCCESS)
        return;
    pushing->made.layers = calloc(IMAGE_MOST_LAYERS + 1, sizeof(*pushing->made.layers));
    pushing->made.entries = calloc(job->stats.entry_count + job->image.entry_count + 1, sizeof(*pushing->made.entries));
    if (pushing->made.layers == NULL || pushing->made.entries == NULL) {
        job->status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
        return;
    }
    keep_old(pushing);
    const ingot_status_t status = ingot_persist_for_each(job->storage, send_entry, pushing);
    if (job->status == INGOT_SUCCESS)
        job->status = status;
    if (job->status == INGOT_SUCCESS && put_layer(pushing))
        (void)put_image(pushing);
}

ingot_status_t ingot_remote_push_image(ingot_storage_t storage, const ingot_remote_info_t *info,
                                       ingot_remote_image_stats_t *stats)
{
    struct pushing *pushing = calloc(1, sizeof(*pushing));
    if (pushing == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a push");
    ingot_status_t status = job_init(&pushing->job, storage, info);
    if (status == INGOT_SUCCESS) {
        push_image(pushing);
        status = job_fini(&pushing->job, stats);
    }
    image_fini(&pushing->made);
    free(pushing->used);
    free(pushing->is_kept);
    free(pushing->pack);
    free(pushing);
    return status;
}

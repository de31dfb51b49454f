/*
 * pull.c - stores what an image has, and a store lacks, in the store.
 *
 * Neighbors in a layer are read by one range request. Every entry is checked by its own digest, so a range needs no
 * digest of its own, and a damaged entry concerns only itself.
 */
#include <ingot/backend.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "remote/object/envelope.h"
#include "remote/oci/job.h"
#include "util/little_endian.h"

#define AT_ID_SIZE 16u

struct pulling {
    struct job job;
    bool *is_present;                   /* for each entry of the image */
    const struct image_entry **missing; /* in the order of layers and offsets */
    size_t missing_count;
};

static ingot_status_t note_present(const ingot_persist_entry_t *entry, void *user)
{
    struct pulling *pulling = user;
    uint8_t key[IMAGE_KEY_SIZE];
    if (entry->status != INGOT_SUCCESS || entry->id == NULL)
        return INGOT_SUCCESS;
    image_key_of(entry->id_size, entry->id, key);
    const struct image_entry *found = image_find(&pulling->job.image, key);
    if (found != NULL)
        pulling->is_present[found - pulling->job.image.entries] = true;
    return INGOT_SUCCESS;
}

static int compare_places(const void *a, const void *b)
{
    const struct image_entry *left = *(const struct image_entry *const *)a;
    const struct image_entry *right = *(const struct image_entry *const *)b;
    if (left->layer != right->layer)
        return left->layer < right->layer ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

static bool find_missing(struct pulling *pulling)
{
    struct job *job = &pulling->job;
    const size_t count = job->image.entry_count;
    pulling->is_present = calloc(count + 1, sizeof(*pulling->is_present));
    pulling->missing = calloc(count + 1, sizeof(*pulling->missing));
    if (pulling->is_present == NULL || pulling->missing == NULL) {
        job->status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu entries", count);
        return false;
    }
    job->status = ingot_persist_for_each(job->storage, note_present, pulling);
    for (size_t i = 0; i < count; ++i) {
        if (!pulling->is_present[i])
            pulling->missing[pulling->missing_count++] = &job->image.entries[i];
    }
    job->stats.entry_count = count;
    job->stats.present_count = count - pulling->missing_count;
    if (pulling->missing_count > 1)
        qsort(pulling->missing, pulling->missing_count, sizeof(*pulling->missing), compare_places);
    return job->status == INGOT_SUCCESS;
}

/* Stores one entry, after checking it. */
static ingot_status_t store_entry(struct job *job, const struct image_entry *entry, const uint8_t *bytes)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    uint8_t key[IMAGE_KEY_SIZE];
    struct envelope_blob blob = {0, NULL, NULL};
    const size_t size = (size_t)entry->size;
    const uint64_t id_size = size >= ENVELOPE_HEADER_SIZE ? le_get_u64(bytes + AT_ID_SIZE) : 0;
    (void)crypto_hash_sha256(hash, bytes, size);
    if (memcmp(hash, entry->sha256, sizeof(hash)) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "an entry of the image does not have its digest");
    if (id_size == 0 || id_size > size - ENVELOPE_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "an entry of the image has impossible sizes");
    const uint8_t *id = bytes + ENVELOPE_HEADER_SIZE;
    image_key_of((size_t)id_size, id, key);
    if (memcmp(key, entry->key, sizeof(key)) != 0)
        return ingot_set_error_detail(INGOT_BLOB_MISMATCH, "an entry of the image belongs to another id");
    ingot_status_t status = envelope_decode(size, bytes, (size_t)id_size, id, job->max_blob_bytes, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_store_sealed(job->storage, (size_t)id_size, id, blob.size, blob.bytes);
    free(blob.unpacked);
    return status;
}

/* Returns how many of the next missing entries lie directly behind each other. */
static size_t count_run(const struct pulling *pulling, size_t first, uint64_t *size)
{
    const struct image_entry *const *missing = &pulling->missing[first];
    size_t count = 1;
    *size = missing[0]->size;
    while (first + count < pulling->missing_count && missing[count]->layer == missing[0]->layer &&
           missing[count]->offset == missing[0]->offset + *size && *size + missing[count]->size <= JOB_PACK_BYTES)
        *size += missing[count++]->size;
    return count;
}

/* Reads a run of entries, and stores them. Returns how many; 0: the job ends. */
static size_t pull_run(struct pulling *pulling, size_t first)
{
    struct job *job = &pulling->job;
    struct registry_body body = {0, NULL};
    uint64_t size = 0;
    const size_t count = count_run(pulling, first, &size);
    const struct image_entry *begin = pulling->missing[first];
    if (size > envelope_max_size(ENVELOPE_MAX_ID_SIZE, job->max_blob_bytes)) { /* then it is one entry */
        ++job->stats.failed_count;
        (void)ingot_set_error_detail(INGOT_NO_SPACE, "an entry of the image has %llu bytes, and the limit is %zu",
                                     (unsigned long long)size, job->max_blob_bytes);
        return 1;
    }
    const enum outcome outcome =
        registry_get_blob(&job->registry, job_request(job, size), job->image.layers[begin->layer].digest, false,
                          begin->offset, (size_t)size, &body);
    if (!job_judge(job, outcome))
        return 0;
    for (size_t i = first; i < first + count; ++i) {
        const struct image_entry *entry = pulling->missing[i];
        const ingot_status_t status = store_entry(job, entry, body.bytes + (entry->offset - begin->offset));
        job->stats.moved_count += status == INGOT_SUCCESS;
        job->stats.failed_count += status != INGOT_SUCCESS;
        job->stats.moved_bytes += entry->size;
    }
    free(body.bytes);
    return count;
}

static void pull(struct pulling *pulling)
{
    struct job *job = &pulling->job;
    size_t count = 1;
    if (!job_judge(job, image_load(&job->image, &job->registry, job_request(job, IMAGE_MOST_INDEX_BYTES))) ||
        !find_missing(pulling))
        return;
    for (size_t i = 0; i < pulling->missing_count && count != 0; i += count)
        count = pull_run(pulling, i);
}

ingot_status_t ingot_remote_pull_image(ingot_storage_t storage, const ingot_remote_info_t *info,
                                       ingot_remote_image_stats_t *stats)
{
    struct pulling *pulling = calloc(1, sizeof(*pulling));
    if (pulling == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a pull");
    struct job *job = &pulling->job;
    ingot_status_t status = job_init(job, storage, info);
    if (status == INGOT_SUCCESS) {
        pull(pulling);
        status = job_fini(job, stats);
    }
    free(pulling->is_present);
    free((void *)pulling->missing);
    free(pulling);
    return status;
}

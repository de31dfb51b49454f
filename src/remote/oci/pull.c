/*
 * pull.c - stores what an image has, and a store lacks, in the store.
 *
 * Neighbors in a layer are read by one range request. Every entry is checked by its own digest, so a range needs no
 * digest of its own, and a damaged entry concerns only itself. A few threads, one of them the caller's, each read a
 * range and store its entries, so that the network, the processors and the disk work at the same time.
 * Lock: one mutex for what the threads share, which is not held during requests or while an entry is stored.
 */
#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "remote/object/envelope.h"
#include "remote/oci/job.h"
#include "util/error_text.h"
#include "util/little_endian.h"
#include "util/thread.h"

#define AT_ID_SIZE 16u

struct pulling {
    struct job job;                     /* while threads run, `lock` guards its stats and its status */
    bool *is_present;                   /* for each entry of the image */
    const struct image_entry **missing; /* in the order of layers and offsets */
    size_t missing_count;
    pthread_mutex_t lock;
    size_t next;      /* the first missing entry that no thread has taken; `lock` guards it and detail */
    char detail[512]; /* of the last failure; "": there was none */
};

/* Missing entries that lie directly behind each other in a layer. */
struct run {
    const struct image_entry *const *entries;
    size_t count;
    uint64_t size;
};

static ingot_status_t note_entry_present(const ingot_persist_entry_t *entry, void *user)
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

static int compare_places_in_layers(const void *a, const void *b)
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
    job->status = ingot_persist_for_each(job->storage, note_entry_present, pulling);
    for (size_t i = 0; i < count; ++i) {
        if (!pulling->is_present[i])
            pulling->missing[pulling->missing_count++] = &job->image.entries[i];
    }
    job->stats.entry_count = count;
    job->stats.present_count = count - pulling->missing_count;
    if (pulling->missing_count > 1)
        qsort(pulling->missing, pulling->missing_count, sizeof(*pulling->missing), compare_places_in_layers);
    return job->status == INGOT_SUCCESS;
}

/* Stores one entry, after checking it. */
static ingot_status_t store_entry(struct job *job, const struct image_entry *entry, const uint8_t *bytes)
{
    uint8_t digest[IMAGE_KEY_SIZE];
    uint8_t key[IMAGE_KEY_SIZE];
    struct envelope_blob blob = {0, NULL, NULL};
    const size_t size = (size_t)entry->size;
    const uint64_t id_size = size >= ENVELOPE_HEADER_SIZE ? le_get_u64(bytes + AT_ID_SIZE) : 0;
    image_digest(size, bytes, digest);
    if (memcmp(digest, entry->digest, sizeof(digest)) != 0)
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

/* ---- the threads ---- */

/* Returns the run that begins with a missing entry. */
static struct run run_at(const struct pulling *pulling, size_t first)
{
    const struct image_entry *const *entries = &pulling->missing[first];
    struct run run = {.entries = entries, .count = 1, .size = entries[0]->size};
    while (first + run.count < pulling->missing_count && entries[run.count]->layer == entries[0]->layer &&
           entries[run.count]->offset == entries[0]->offset + run.size &&
           run.size + entries[run.count]->size <= JOB_PACK_BYTES)
        run.size += entries[run.count++]->size;
    return run;
}

/* Takes the next run. Returns false if there is none, or if the job must end. */
static bool take_run(struct pulling *pulling, struct run *run)
{
    (void)pthread_mutex_lock(&pulling->lock);
    const bool is_taken = pulling->job.status == INGOT_SUCCESS && pulling->next < pulling->missing_count;
    if (is_taken) {
        *run = run_at(pulling, pulling->next);
        pulling->next += run->count;
    }
    (void)pthread_mutex_unlock(&pulling->lock);
    return is_taken;
}

/* Counts an entry. If it was not stored, the thread's error detail says why. */
static void note_entry(struct pulling *pulling, const struct image_entry *entry, ingot_status_t status)
{
    ingot_remote_image_stats_t *stats = &pulling->job.stats;
    (void)pthread_mutex_lock(&pulling->lock);
    stats->moved_count += status == INGOT_SUCCESS;
    stats->failed_count += status != INGOT_SUCCESS;
    stats->moved_bytes += status == INGOT_SUCCESS ? entry->size : 0;
    if (status != INGOT_SUCCESS && pulling->job.status == INGOT_SUCCESS) /* otherwise, the job's failure is told */
        error_text_copy(pulling->detail, sizeof(pulling->detail), ingot_last_error_detail());
    (void)pthread_mutex_unlock(&pulling->lock);
}

/* Notes a failure that ends the job. */
static void note_pull_failure(struct pulling *pulling, const struct request *request, enum outcome outcome)
{
    (void)pthread_mutex_lock(&pulling->lock);
    if (pulling->job.status == INGOT_SUCCESS && !job_judge(&pulling->job, request, outcome))
        error_text_copy(pulling->detail, sizeof(pulling->detail), ingot_last_error_detail());
    (void)pthread_mutex_unlock(&pulling->lock);
}

/* Reads a run of entries, and stores them. */
static void pull_run(struct pulling *pulling, const struct run *run)
{
    struct job *job = &pulling->job;
    struct registry_body body = {0, NULL};
    const struct image_entry *first = run->entries[0];
    if (run->size > envelope_max_size(ENVELOPE_MAX_ID_SIZE, job->max_blob_bytes)) { /* then it is one entry */
        note_entry(pulling, first,
                   ingot_set_error_detail(INGOT_NO_SPACE, "an entry of the image has %llu bytes, and the limit is %zu",
                                          (unsigned long long)run->size, job->max_blob_bytes));
        return;
    }
    struct request request = job_request(job, run->size);
    const enum outcome outcome = registry_get_blob(&job->registry, &request, job->image.layers[first->layer].digest,
                                                   false, first->offset, (size_t)run->size, &body);
    if (outcome != OUTCOME_DONE)
        note_pull_failure(pulling, &request, outcome);
    for (size_t i = 0; outcome == OUTCOME_DONE && i < run->count; ++i) {
        const struct image_entry *entry = run->entries[i];
        note_entry(pulling, entry, store_entry(job, entry, body.bytes + (entry->offset - first->offset)));
    }
    free(body.bytes);
}

static void *pull_runs(void *user)
{
    struct run run;
    while (take_run(user, &run))
        pull_run(user, &run);
    return NULL;
}

/* Pulls the missing entries, with up to one thread per run. If none can be started, the caller's does everything. */
static void pull_missing_entries(struct pulling *pulling)
{
    pthread_t threads[JOB_MOST_PARALLEL - 1];
    size_t count = 0;
    size_t run_count = 0;
    for (size_t i = 0; i < pulling->missing_count; i += run_at(pulling, i).count)
        ++run_count;
    while (count < JOB_MOST_PARALLEL - 1 && count + 1 < run_count && thread_start(&threads[count], pull_runs, pulling))
        ++count;
    (void)pull_runs(pulling);
    while (count != 0)
        thread_join(threads[--count]);
    if (pulling->detail[0] != '\0')
        (void)ingot_set_error_detail(pulling->job.status, "%s", pulling->detail);
}

static void pull_image(struct pulling *pulling)
{
    struct job *job = &pulling->job;
    struct request request;
    if (!job_judge(job, &request, job_load_image(job, &request)) || !find_missing(pulling))
        return;
    pthread_mutex_init(&pulling->lock, NULL);
    pull_missing_entries(pulling);
    (void)pthread_mutex_destroy(&pulling->lock);
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
        pull_image(pulling);
        status = job_fini(job, stats);
    }
    free(pulling->is_present);
    free((void *)pulling->missing);
    free(pulling);
    return status;
}

/*
 * verify.c - verifies the checksums of all entries of a store or a bundle, and removes bad entries from a store on
 * request.
 */
#include <ingot/backend.h>
#include <stddef.h>

#include "persist/base/memory.h"
#include "persist/bundle/bundle.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/layout/bucket.h"
#include "persist/directory/layout/root.h"
#include "persist/directory/layout/temporary.h"
#include "persist/directory/upkeep/evict.h"
#include "persist/directory/upkeep/inspect.h"
#include "util/struct_size.h"

/* Counts a verified entry of a store or a bundle. */
static void count(ingot_persist_verification_t *so_far, const ingot_persist_entry_t *entry)
{
    ++so_far->done_count;
    so_far->done_bytes += entry->bytes;
    if (entry_is_bad(entry->status))
        ++so_far->bad_count;
    else if (entry->status == INGOT_BLOB_VERSION || entry->status == INGOT_UNTRUSTED)
        ++so_far->foreign_count;
    else if (entry->status != INGOT_SUCCESS)
        ++so_far->unread_count;
}

/* True if this user owns an object, and other users may write to it. */
static bool is_open_to_others(const struct directory *directory, const char *path)
{
    struct file_facts facts;
    return files_facts_at(directory->root.fd, path, &facts) == 0 && files_are_own(&facts, directory->owner) &&
           !facts.is_closed && !facts.is_link;
}

/* True if an entry that is not trusted can never be loaded, because its directory or a file in it was opened to other
 * users, and not only because it has no seal. */
static bool is_open_entry(const struct directory *directory, const struct survey *survey,
                          const struct survey_entry *found)
{
    char path[PATH_CAPACITY];
    char file[PATH_CAPACITY];
    survey_path(survey, found, path);
    if (is_open_to_others(directory, path))
        return true;
    paths_join(file, path, "key.bin");
    if (is_open_to_others(directory, file))
        return true;
    paths_join(file, path, "kernel.bin");
    return is_open_to_others(directory, file);
}

/* Closes a bucket to other users. Each entry in it is verified by itself. */
static void close_bucket(const struct directory *directory, const struct survey *survey,
                         const struct survey_entry *found)
{
    char path[PATH_CAPACITY];
    paths_bucket(path, survey->name_spaces[found->name_space], found->bucket);
    if (is_open_to_others(directory, path))
        (void)files_make_private(directory->root.fd, path);
}

/* Removes an entry. Returns false if it could not be removed. */
static bool take_away(struct directory *directory, const struct survey *survey, const struct survey_entry *found)
{
    return bucket_take_away(directory, survey->name_spaces[found->name_space], found->bucket, found->number,
                            found->inode, account_deadline(directory)) == INGOT_SUCCESS;
}

/* Returns the status with which progress stopped the verification, or INGOT_SUCCESS. */
static ingot_status_t verify_all(ingot_storage_t storage, struct directory *directory, const struct survey *survey,
                                 int repair, ingot_persist_progress_t progress, void *user,
                                 ingot_persist_verification_t *so_far)
{
    ingot_status_t told = INGOT_SUCCESS;
    for (size_t i = 0; told == INGOT_SUCCESS && i < survey->entry_count; ++i) {
        struct inspected inspected;
        if (repair != 0)
            close_bucket(directory, survey, &survey->entries[i]);
        const bool is_there = inspect_init(&inspected, directory, survey, &survey->entries[i], storage);
        if (is_there) {
            count(so_far, &inspected.entry);
            const ingot_status_t status = inspected.entry.status;
            if (repair != 0 && (entry_is_bad(status) ||
                                (status == INGOT_UNTRUSTED && is_open_entry(directory, survey, &survey->entries[i]))))
                so_far->removed_count += take_away(directory, survey, &survey->entries[i]);
            if (progress != NULL)
                told = progress(so_far, &inspected.entry, user);
        } else {
            ++so_far->done_count;
        }
        inspect_fini(&inspected);
    }
    return told;
}

/* The arguments of a bundle's verification, and its results so far. */
struct bundle_verification {
    ingot_storage_t storage;
    ingot_persist_progress_t progress;
    void *user;
    ingot_persist_verification_t so_far;
};

static ingot_status_t verify_one_of_bundle(const ingot_persist_entry_t *entry, void *user)
{
    struct bundle_verification *verification = user;
    ingot_persist_verification_t *so_far = &verification->so_far;
    ingot_persist_entry_t verified = *entry;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    if (verified.status == INGOT_SUCCESS) {
        verified.status = ingot_persist_load_entry(verification->storage, entry, 1, &blob);
        verified.reason = verified.status == INGOT_SUCCESS ? "" : ingot_last_error_detail();
        memory_release_buffer(&blob);
    }
    count(so_far, &verified);
    return verification->progress != NULL ? verification->progress(so_far, &verified, verification->user)
                                          : INGOT_SUCCESS;
}

static ingot_status_t verify_bundle(ingot_storage_t storage, int repair, ingot_persist_progress_t progress, void *user,
                                    ingot_persist_verification_t *found)
{
    struct bundle_verification verification = {storage, progress, user, INGOT_PERSIST_VERIFICATION_INIT};
    if (repair != 0)
        return ingot_set_error_detail(INGOT_READ_ONLY, "a bundle cannot be repaired");
    verification.so_far.entry_count = bundle_entry_count(bundle_of(storage));
    const ingot_status_t status = bundle_for_each(bundle_of(storage), verify_one_of_bundle, &verification);
    (void)STRUCT_WRITE(found, verification.so_far);
    return status;
}

/* Counts the leftovers. If `repair` is set, also removes them, and counts all that were removed since the store was
 * opened, because opening the store removes leftovers, too. */
static void count_leftovers(struct directory *directory, int repair, ingot_persist_verification_t *so_far)
{
    const struct leftovers leftovers = temporary_reclaim(directory, repair != 0);
    so_far->leftover_count = leftovers.count;
    so_far->leftover_bytes = leftovers.bytes;
    if (repair != 0) {
        so_far->leftover_count = counters_get(&directory->counters, COUNTER_LEFTOVERS);
        so_far->leftover_bytes = counters_get(&directory->counters, COUNTER_LEFTOVER_BYTES);
    }
}

ingot_status_t ingot_persist_verify(ingot_storage_t storage, int repair, ingot_persist_progress_t progress, void *user,
                                    ingot_persist_verification_t *found)
{
    struct directory *directory;
    struct survey survey;
    struct upkeep_watch nobody = upkeep_watch_of(NULL, NULL);
    ingot_persist_verification_t so_far = INGOT_PERSIST_VERIFICATION_INIT;
    if (!STRUCT_IS_SET(found))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "found or its struct_size is missing");
    if (bundle_of(storage) != NULL)
        return verify_bundle(storage, repair, progress, user, found);
    ingot_status_t status = directory_get(storage, &directory);
    if (status != INGOT_SUCCESS)
        return status;
    if (repair != 0 && directory->is_read_only)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    status = survey_init(&survey, directory, directory_name_space(directory), NULL);
    if (status == INGOT_SUCCESS) {
        so_far.entry_count = survey.entry_count;
        so_far.unread_count = survey.unread_count;
        const ingot_status_t told = verify_all(storage, directory, &survey, repair, progress, user, &so_far);
        count_leftovers(directory, repair, &so_far);
        if (repair != 0)
            status = evict_recount(directory, directory_name_space(directory), &nobody, NULL);
        if (told != INGOT_SUCCESS)
            status = told;
        (void)STRUCT_WRITE(found, so_far);
    }
    survey_fini(&survey);
    return status;
}

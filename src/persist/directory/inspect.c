/*
 * inspect.c - visits and verifies the entries of a store or a bundle, and loads or removes single ones, for tools.
 *
 * All entries are listed before the first one is visited, so that a callback may change the store. Entries that have
 * vanished by the time of their visit are left out.
 */
#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/bundle/bundle.h"
#include "persist/directory/evict.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/lookup.h"
#include "persist/directory/root.h"
#include "persist/directory/temporary.h"
#include "persist/storage/storage.h"
#include "persist/storage/trust.h"
#include "persist/trust/seal.h"
#include "util/error_text.h"
#include "util/struct_size.h"

/* An entry that was read, and the memory that it owns. */
struct inspected {
    ingot_persist_entry_t entry;
    ingot_buffer_t id;
    char reason[256];
};

static ingot_status_t fail_entry_replaced(const char *path)
{
    return ingot_set_error_detail(INGOT_NOT_FOUND, "%s is gone or was replaced", path);
}

/* Opens the entry's directory, so that all later reads are of exactly this entry. Returns INGOT_NOT_FOUND if the entry
 * with this inode is gone, or if another entry has its name. The caller closes pinned->at. */
static ingot_status_t pin_entry_of_inode(const struct entry_place *place, uint64_t inode, struct entry_place *pinned)
{
    struct file_facts facts = {0};
    ingot_status_t status = entry_examine(place, &facts);
    if (facts.inode != 0 && facts.inode != inode)
        /* Another entry has this name now, and entry_examine's status is about that entry, so replace the status. */
        status = fail_entry_replaced(place->path);
    if (status == INGOT_SUCCESS)
        status = entry_pin(place, pinned);
    if (status != INGOT_SUCCESS)
        return status;
    const int result = files_facts(pinned->at, &facts);
    if (result == 0 && facts.inode == inode)
        return INGOT_SUCCESS;
    (void)files_close(pinned->at);
    return result < 0 ? files_read_failed(result, "examining", place->path) : fail_entry_replaced(place->path);
}

/* Reads a pinned entry and closes it. */
static ingot_status_t read_pinned(const struct directory *directory, const struct entry_place *pinned,
                                  ingot_storage_t verifying, struct key_file *key, ingot_buffer_t *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = entry_read_whole(pinned, &directory->allocator, key, id, verifying != NULL ? &blob : NULL);
    if (status == INGOT_SUCCESS && verifying != NULL)
        status = trust_check_kept(verifying, id->size, id->bytes, blob.size, blob.bytes);
    memory_release_buffer(&blob);
    (void)files_close(pinned->at);
    return status;
}

static void fill_inspected_entry(struct inspected *inspected, const struct key_file *key, uint64_t time_ns,
                                 ingot_status_t status)
{
    ingot_persist_entry_t *entry = &inspected->entry;
    entry->blob_size = (size_t)key->blob_size_bytes;
    entry->created_ns = key->created_ns;
    entry->last_use_ns = key->created_ns != 0 ? time_ns : 0;
    entry->id_size = inspected->id.size;
    entry->id = inspected->id.bytes;
    entry->status = status;
    entry->reason = inspected->reason;
    if (status != INGOT_SUCCESS)
        error_text_copy(inspected->reason, sizeof(inspected->reason), ingot_last_error_detail());
}

/* Reads the header and the id of an entry. `verifying` is NULL or the directory's storage. If it is not NULL, also
 * verifies the blob's checksum and seal, and that the entry is in its id's place. Returns false if the entry no longer
 * exists. Call `release_inspected_id` in either case. */
static bool inspect_entry(struct inspected *inspected, const struct root *root, const struct scan *scan,
                          const struct scan_entry *found, ingot_storage_t verifying)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    struct key_file key;
    memset(inspected, 0, sizeof(*inspected));
    memset(&key, 0, sizeof(key));
    inspected->entry = (ingot_persist_entry_t){
        .struct_size = sizeof(inspected->entry),
        .name_space = scan_name_of(scan, found),
        .identity = found->inode,
        .bytes = found->bytes,
    };
    paths_place(inspected->entry.place, &found->hash);
    scan_path(scan, found, path);
    const struct entry_place place = {root->fd, path, root->directory->owner, BLOB_CHECKED_HERE};
    struct entry_place pinned;
    ingot_status_t status = lookup_examine_shard(root, scan_name_of(scan, found), found->hash.bytes[0]);
    if (status == INGOT_SUCCESS)
        status = pin_entry_of_inode(&place, found->inode, &pinned);
    if (status == INGOT_NOT_FOUND)
        return false;
    if (status == INGOT_SUCCESS)
        status = read_pinned(root->directory, &pinned, verifying, &key, &inspected->id);
    if (status == INGOT_SUCCESS && verifying != NULL &&
        !checksum_holds(&found->hash, inspected->id.size, inspected->id.bytes))
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s is not the place of its id", path);
    fill_inspected_entry(inspected, &key, found->time_ns, status);
    if (status == INGOT_SUCCESS || status == INGOT_IO_ERROR || status == INGOT_OUT_OF_MEMORY)
        return true;
    /* an entry that was deleted while it was read looks truncated or missing */
    return files_facts_at(root->fd, path, &facts) == 0 && facts.inode == found->inode;
}

static void release_inspected_id(struct inspected *inspected)
{
    memory_release_buffer(&inspected->id);
}

ingot_status_t ingot_persist_for_each(ingot_storage_t storage, ingot_persist_visit_t visit, void *user)
{
    struct root root;
    struct scan scan;
    struct upkeep_watch nobody = upkeep_watch_of(NULL, NULL);
    if (visit == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "visit is NULL");
    if (bundle_of(storage) != NULL)
        return bundle_for_each(bundle_of(storage), visit, user);
    ingot_status_t status = root_open_of(storage, &root);
    if (status != INGOT_SUCCESS) {
        root_close(&root);
        return status;
    }
    status = scan_init(&scan, &root, directory_name_space(root.directory), &nobody);
    scan.identifies = true;
    if (status == INGOT_SUCCESS)
        status = scan_all(&scan);
    scan_sort_by_place(&scan);
    for (size_t i = 0; status == INGOT_SUCCESS && i < scan.entry_count; ++i) {
        struct inspected inspected;
        if (inspect_entry(&inspected, &root, &scan, scan_entry_at(&scan, i), NULL))
            status = visit(&inspected.entry, user);
        release_inspected_id(&inspected);
    }
    if (status == INGOT_SUCCESS && scan.unread_count != 0)
        status = ingot_set_error_detail(INGOT_IO_ERROR, "%llu entries or directories could not be read",
                                        (unsigned long long)scan.unread_count);
    scan_fini(&scan);
    root_close(&root);
    return status;
}

/* ---- single entries ---- */

/* Copies the caller's entry. A caller that was compiled with an older version passes a shorter structure, but the
 * fields that identify the entry have always been part of it. */
static ingot_status_t copy_given_entry(ingot_persist_entry_t *known, const ingot_persist_entry_t *given)
{
    if (!STRUCT_READ(*known, given) || given->struct_size < offsetof(ingot_persist_entry_t, bytes))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "entry or its struct_size is missing");
    return INGOT_SUCCESS;
}

/* Opens the root, and finds the path of the caller's entry below it. Does not check whether the entry is there. The
 * caller closes the root, even on failure. */
static ingot_status_t locate_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry, struct root *root,
                                   struct checksum *hash, char path[PATH_CAPACITY])
{
    *root = (struct root){NULL, -1};
    if (entry->name_space == NULL || (entry->name_space[0] != '\0' && !paths_is_namespace(entry->name_space)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "entry's namespace is missing or not valid");
    if (memchr(entry->place, '\0', sizeof(entry->place)) == NULL || !paths_parse_place(entry->place, hash))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "entry's place is not valid");
    paths_entry(path, entry->name_space, hash);
    return root_open_of(storage, root);
}

/* Loads the id and the blob of an entry in a directory store, without removing the blob's seal. */
static ingot_status_t load_kept(ingot_storage_t storage, const ingot_persist_entry_t *known, ingot_buffer_t *id,
                                ingot_buffer_t *kept)
{
    struct root root;
    char path[PATH_CAPACITY];
    struct checksum hash;
    struct key_file key;
    struct entry_place pinned = {.at = -1};
    ingot_status_t status = locate_entry(storage, known, &root, &hash, path);
    if (status == INGOT_SUCCESS) {
        const struct entry_place place = {root.fd, path, root.directory->owner, BLOB_CHECKED_HERE};
        status = pin_entry_of_inode(&place, known->identity, &pinned);
    }
    if (status == INGOT_SUCCESS) {
        status = entry_read_whole(&pinned, &root.directory->allocator, &key, id, kept);
        (void)files_close(pinned.at);
    }
    root_close(&root);
    return status;
}

ingot_status_t ingot_persist_load_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry, int with_seal,
                                        ingot_buffer_t *blob)
{
    ingot_persist_entry_t known;
    ingot_buffer_t id = INGOT_BUFFER_INIT;
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    if (blob == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "blob is NULL");
    ingot_status_t status = copy_given_entry(&known, entry);
    if (status == INGOT_SUCCESS)
        status = bundle_of(storage) != NULL ? bundle_load_entry(bundle_of(storage), &known, &id, &kept)
                                            : load_kept(storage, &known, &id, &kept);
    if (status == INGOT_SUCCESS)
        status = trust_check_kept(storage, id.size, id.bytes, kept.size, kept.bytes);
    memory_release_buffer(&id);
    if (status == INGOT_SUCCESS && !with_seal)
        status = seal_open(storage_allocator(storage), &kept);
    if (status == INGOT_SUCCESS)
        *blob = kept;
    else
        memory_release_buffer(&kept);
    return status;
}

ingot_status_t ingot_persist_remove_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry)
{
    struct root root = {NULL, -1};
    ingot_persist_entry_t known;
    char path[PATH_CAPACITY];
    struct checksum hash;
    struct file_facts facts;
    ingot_status_t status = copy_given_entry(&known, entry);
    if (status == INGOT_SUCCESS)
        status = locate_entry(storage, &known, &root, &hash, path);
    const int result = status == INGOT_SUCCESS ? files_facts_at(root.fd, path, &facts) : 0;
    if (result < 0)
        status = files_read_failed(result, "examining", path);
    else if (status == INGOT_SUCCESS && facts.inode != known.identity)
        status = fail_entry_replaced(path);
    else if (status == INGOT_SUCCESS && root.directory->is_read_only)
        status = ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    else if (status == INGOT_SUCCESS)
        status = lookup_take_away(&root, known.name_space, &hash, known.identity, account_deadline(root.directory));
    root_close(&root);
    return status;
}

/* ---- verification ---- */

/* Counts a verified entry of a store or a bundle. */
static void count_verified_entry(ingot_persist_verification_t *so_far, const ingot_persist_entry_t *entry)
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
static bool is_open_to_others(const struct root *root, const char *path)
{
    struct file_facts facts;
    return files_facts_at(root->fd, path, &facts) == 0 && files_are_own(&facts, root->directory->owner) &&
           !facts.is_closed && !facts.is_link;
}

/* True if an entry that is not trusted can never be loaded, because its directory or a file in it was opened to other
 * users, and not only because it has no seal. */
static bool is_open_entry(const struct root *root, const struct scan *scan, const struct scan_entry *found)
{
    char path[PATH_CAPACITY];
    char file[PATH_CAPACITY];
    scan_path(scan, found, path);
    if (is_open_to_others(root, path))
        return true;
    paths_join(file, path, "key.bin");
    if (is_open_to_others(root, file))
        return true;
    paths_join(file, path, "kernel.bin");
    return is_open_to_others(root, file);
}

/* Removes the permissions that other users have on a shard. Its entries are verified separately. */
static void close_shard(const struct root *root, const struct scan *scan, const struct scan_entry *found)
{
    char path[PATH_CAPACITY];
    paths_shard(path, scan_name_of(scan, found), found->hash.bytes[0]);
    if (is_open_to_others(root, path))
        (void)files_make_private(root->fd, path);
}

/* Removes an entry. Returns false if it could not be removed. */
static bool take_away(const struct root *root, const struct scan *scan, const struct scan_entry *found)
{
    return lookup_take_away(root, scan_name_of(scan, found), &found->hash, found->inode,
                            account_deadline(root->directory)) == INGOT_SUCCESS;
}

/* Returns the status with which progress stopped the verification, or INGOT_SUCCESS. */
static ingot_status_t verify_all(ingot_storage_t storage, const struct root *root, const struct scan *scan, int repair,
                                 ingot_persist_progress_t progress, void *user, ingot_persist_verification_t *so_far)
{
    ingot_status_t told = INGOT_SUCCESS;
    for (size_t i = 0; told == INGOT_SUCCESS && i < scan->entry_count; ++i) {
        struct inspected inspected;
        if (repair != 0)
            close_shard(root, scan, scan_entry_at(scan, i));
        const bool is_there = inspect_entry(&inspected, root, scan, scan_entry_at(scan, i), storage);
        if (is_there) {
            count_verified_entry(so_far, &inspected.entry);
            const ingot_status_t status = inspected.entry.status;
            if (repair != 0 && (entry_is_bad(status) ||
                                (status == INGOT_UNTRUSTED && is_open_entry(root, scan, scan_entry_at(scan, i)))))
                so_far->removed_count += take_away(root, scan, scan_entry_at(scan, i));
            if (progress != NULL)
                told = progress(so_far, &inspected.entry, user);
        } else {
            ++so_far->done_count;
        }
        release_inspected_id(&inspected);
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
    count_verified_entry(so_far, &verified);
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
static void count_leftovers(const struct root *root, int repair, ingot_persist_verification_t *so_far)
{
    const struct leftovers leftovers = temporary_reclaim(root, repair != 0);
    so_far->leftover_count = leftovers.count;
    so_far->leftover_bytes = leftovers.bytes;
    if (repair != 0) {
        so_far->leftover_count = counters_get(&root->directory->counters, COUNTER_LEFTOVERS);
        so_far->leftover_bytes = counters_get(&root->directory->counters, COUNTER_LEFTOVER_BYTES);
    }
}

ingot_status_t ingot_persist_verify(ingot_storage_t storage, int repair, ingot_persist_progress_t progress, void *user,
                                    ingot_persist_verification_t *found)
{
    struct root root;
    struct scan scan;
    struct upkeep_watch nobody = upkeep_watch_of(NULL, NULL);
    ingot_persist_count_t count_after = INGOT_PERSIST_COUNT_INIT;
    ingot_persist_verification_t so_far = INGOT_PERSIST_VERIFICATION_INIT;
    if (!STRUCT_IS_SET(found))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "found or its struct_size is missing");
    if (bundle_of(storage) != NULL)
        return verify_bundle(storage, repair, progress, user, found);
    ingot_status_t status = root_open_of(storage, &root);
    if (status == INGOT_SUCCESS && repair != 0 && root.directory->is_read_only)
        status = ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    if (status != INGOT_SUCCESS) {
        root_close(&root);
        return status;
    }
    status = scan_init(&scan, &root, directory_name_space(root.directory), &nobody);
    scan.identifies = true;
    if (status == INGOT_SUCCESS)
        status = scan_all(&scan);
    if (status == INGOT_SUCCESS) {
        so_far.entry_count = scan.entry_count;
        so_far.unread_count = scan.unread_count;
        const ingot_status_t told = verify_all(storage, &root, &scan, repair, progress, user, &so_far);
        count_leftovers(&root, repair, &so_far);
        if (repair != 0)
            status = evict_recount(&root, directory_name_space(root.directory), &nobody, &count_after);
        if (told != INGOT_SUCCESS)
            status = told;
        (void)STRUCT_WRITE(found, so_far);
    }
    scan_fini(&scan);
    root_close(&root);
    return status;
}

/*
 * inspect.c - visits and verifies the entries of a store or a bundle, and loads or removes single ones, for tools.
 *
 * All entries are listed before the first one is visited, so that a callback may change the store. Entries that have
 * vanished by the time of their visit are left out.
 */
#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/directory.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/bundle/bundle.h"
#include "persist/directory/entries.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/state.h"
#include "persist/storage/storage.h"
#include "persist/trust/seal.h"
#include "util/error_text.h"

#define REASON_CAPACITY 256u

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

/* Reads the id of the entry with this inode, and its blob unless `blob` is NULL. Sets *key to zeros if that is not
 * valid. Returns INGOT_NOT_FOUND if the entry is gone. */
static ingot_status_t read_entry_of_inode(const struct root *root, const char *name_space, const struct checksum *hash,
                                          uint64_t inode, struct key_file *key, ingot_buffer_t *id,
                                          ingot_buffer_t *blob)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    struct entry_place pinned;
    uint64_t time_ns;
    paths_entry(path, name_space, hash);
    const struct entry_place place = {root->fd, path, root->directory->owner};
    memset(key, 0, sizeof(*key));
    ingot_status_t status = lookup_examine_shard(root, name_space, hash->bytes[0]);
    if (status == INGOT_SUCCESS)
        status = pin_entry_of_inode(&place, inode, &pinned);
    if (status != INGOT_SUCCESS)
        return status;
    status = entry_read(&pinned, 0, NULL, &root->directory->allocator, key, id, blob, &time_ns);
    (void)files_close(pinned.at);
    if (status == INGOT_SUCCESS && memcmp(hash, &key->id_checksum, sizeof(*hash)) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s is not the place of its id", path);
    if (status == INGOT_SUCCESS || status == INGOT_IO_ERROR || status == INGOT_OUT_OF_MEMORY)
        return status;
    /* an entry that was deleted while it was read looks truncated or missing */
    const bool is_there = files_facts_at(root->fd, path, &facts) == 0 && facts.inode == inode;
    return is_there ? status : fail_entry_replaced(path);
}

/* A list of all entries of a store. */
struct listing {
    struct root root;
    struct scan scan;
    struct upkeep_watch watch; /* of nobody */
};

static void end_listing(struct listing *listing)
{
    scan_fini(&listing->scan);
    root_close(&listing->root);
}

/* On failure, nothing needs to be ended. */
static ingot_status_t begin_listing(struct listing *listing, ingot_storage_t storage, bool must_be_writable)
{
    ingot_status_t status = root_open_of(storage, must_be_writable, &listing->root);
    if (status != INGOT_SUCCESS) {
        root_close(&listing->root);
        return status;
    }
    listing->watch = upkeep_watch_of(NULL, NULL);
    status = scan_init(&listing->scan, &listing->root, true, &listing->watch);
    listing->scan.is_inspection = true;
    if (status == INGOT_SUCCESS)
        status = scan_all(&listing->scan);
    scan_sort(&listing->scan, scan_compare_places);
    if (status != INGOT_SUCCESS)
        end_listing(listing);
    return status;
}

/* Visits the entries that still exist. */
static ingot_status_t visit_listed(const struct listing *listing, ingot_persist_visit_t visit, void *user)
{
    ingot_status_t visited = INGOT_SUCCESS;
    for (size_t i = 0; visited == INGOT_SUCCESS && i < listing->scan.entry_count; ++i) {
        char reason[REASON_CAPACITY] = "";
        ingot_buffer_t id = INGOT_BUFFER_INIT;
        struct key_file key;
        const struct scan_entry *found = scan_entry_at(&listing->scan, i);
        const char *name_space = scan_name_of(&listing->scan, found);
        const ingot_status_t status =
            read_entry_of_inode(&listing->root, name_space, &found->hash, found->inode, &key, &id, NULL);
        if (status != INGOT_SUCCESS)
            error_text_copy(reason, sizeof(reason), ingot_last_error_detail());
        ingot_persist_entry_t entry = {
            .name_space = name_space,
            .status = status,
            .reason = reason,
            .identity = found->inode,
            .bytes = found->bytes,
            .blob_size = (size_t)key.blob_size_bytes,
            .created_ns = key.created_ns,
            .last_use_ns = key.created_ns != 0 ? found->time_ns : 0,
            .id_size = id.size,
            .id = id.bytes,
        };
        paths_place(entry.place, &found->hash);
        visited = status != INGOT_NOT_FOUND ? visit(&entry, user) : INGOT_SUCCESS;
        memory_release_buffer(&id);
    }
    return visited;
}

ingot_status_t ingot_persist_for_each(ingot_storage_t storage, ingot_persist_visit_t visit, void *user)
{
    struct listing listing;
    if (bundle_of(storage) != NULL)
        return bundle_for_each(bundle_of(storage), visit, user);
    ingot_status_t status = begin_listing(&listing, storage, false);
    if (status != INGOT_SUCCESS)
        return status;
    status = visit_listed(&listing, visit, user);
    if (status == INGOT_SUCCESS && listing.scan.unread_count != 0)
        status = ingot_set_error_detail(INGOT_IO_ERROR, "%llu entries or directories could not be read",
                                        (unsigned long long)listing.scan.unread_count);
    end_listing(&listing);
    return status;
}

/* ---- single entries ---- */

/* Opens the root, and finds the path of an entry below it. Does not check whether the entry is there. The caller closes
 * the root, even on failure. */
static ingot_status_t locate_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry, struct root *root,
                                   struct checksum *hash, char path[PATH_CAPACITY])
{
    *root = (struct root){NULL, -1, 0};
    if (!paths_parse_place(entry->place, hash))
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the entry has no place in a store");
    paths_entry(path, entry->name_space, hash);
    return root_open_of(storage, false, root);
}

/* Loads the id and the blob of an entry, without removing the blob's seal. *id and *kept must be empty; the id is valid
 * as long as *kept. */
static ingot_status_t load_kept(ingot_storage_t storage, const ingot_persist_entry_t *known, ingot_buffer_t *id,
                                ingot_buffer_t *kept)
{
    struct root root;
    char path[PATH_CAPACITY];
    struct checksum hash;
    struct key_file key;
    if (bundle_of(storage) != NULL)
        return bundle_load_entry(bundle_of(storage), known, id, kept);
    ingot_status_t status = locate_entry(storage, known, &root, &hash, path);
    if (status == INGOT_SUCCESS)
        status = read_entry_of_inode(&root, known->name_space, &hash, known->identity, &key, id, kept);
    root_close(&root);
    return status;
}

ingot_status_t ingot_persist_load_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry, int with_seal,
                                        ingot_buffer_t *blob)
{
    ingot_buffer_t id = INGOT_BUFFER_INIT;
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    ingot_status_t status = load_kept(storage, entry, &id, &kept);
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
    struct root root;
    char path[PATH_CAPACITY];
    struct checksum hash;
    struct file_facts facts;
    ingot_status_t status = locate_entry(storage, entry, &root, &hash, path);
    const int result = status == INGOT_SUCCESS ? files_facts_at(root.fd, path, &facts) : 0;
    if (result < 0)
        status = files_read_failed(result, "examining", path);
    else if (status == INGOT_SUCCESS && facts.inode != entry->identity)
        status = fail_entry_replaced(path);
    else if (status == INGOT_SUCCESS && root.directory->is_read_only)
        status = ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    else if (status == INGOT_SUCCESS)
        status = lookup_take_away(&root, entry->name_space, &hash, entry->identity, account_deadline(root.directory));
    root_close(&root);
    return status;
}

/* ---- verification ---- */

/* The arguments of a verification, and its results so far. */
struct verification {
    ingot_storage_t storage;
    bool is_repair;
    ingot_persist_progress_t progress;
    void *user;
    ingot_persist_verification_t *so_far;
};

/* Verifies an entry whose id was read. A repair removes it if it is damaged, or if it can never be loaded because other
 * users may write to it; an entry whose seal is refused stays. */
static ingot_status_t verify_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct verification *verification = user;
    ingot_persist_verification_t *so_far = verification->so_far;
    ingot_persist_entry_t verified = *entry;
    ingot_buffer_t id = INGOT_BUFFER_INIT;
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    char reason[REASON_CAPACITY];
    if (verified.status == INGOT_SUCCESS)
        verified.status = load_kept(verification->storage, entry, &id, &kept);
    const bool is_useless = entry_is_bad(verified.status) || verified.status == INGOT_UNTRUSTED;
    if (verified.status == INGOT_SUCCESS)
        verified.status = trust_check_kept(verification->storage, id.size, id.bytes, kept.size, kept.bytes);
    if (entry->status == INGOT_SUCCESS && verified.status != INGOT_SUCCESS) {
        error_text_copy(reason, sizeof(reason), ingot_last_error_detail());
        verified.reason = reason;
    }
    memory_release_buffer(&id);
    memory_release_buffer(&kept);
    if (verified.status == INGOT_NOT_FOUND)
        return INGOT_SUCCESS; /* it has vanished */
    ++so_far->done_count;
    so_far->done_bytes += verified.bytes;
    if (entry_is_bad(verified.status))
        ++so_far->bad_count;
    else if (verified.status == INGOT_BLOB_VERSION || verified.status == INGOT_UNTRUSTED)
        ++so_far->foreign_count;
    else if (verified.status != INGOT_SUCCESS)
        ++so_far->unread_count;
    if (verification->is_repair && is_useless)
        so_far->removed_count += ingot_persist_remove_entry(verification->storage, entry) == INGOT_SUCCESS;
    return verification->progress != NULL ? verification->progress(so_far, &verified, verification->user)
                                          : INGOT_SUCCESS;
}

ingot_status_t ingot_persist_verify(ingot_storage_t storage, int repair, ingot_persist_progress_t progress, void *user,
                                    ingot_persist_verification_t *found)
{
    struct verification verification = {storage, repair != 0, progress, user, found};
    struct bundle *bundle = bundle_of(storage);
    *found = (ingot_persist_verification_t){.entry_count = 0};
    if (bundle == NULL) {
        struct listing listing;
        ingot_persist_verification_t *so_far = verification.so_far;
        ingot_persist_count_t count_after;
        ingot_status_t status = begin_listing(&listing, verification.storage, verification.is_repair);
        if (status != INGOT_SUCCESS)
            return status;
        so_far->entry_count = listing.scan.entry_count;
        so_far->unread_count = listing.scan.unread_count;
        so_far->leftover_count = listing.scan.leftover_count;
        so_far->leftover_bytes = listing.scan.leftover_bytes;
        status = visit_listed(&listing, verify_entry, &verification);
        if (verification.is_repair) { /* also removes the leftovers */
            const ingot_status_t counted = evict_on_request(&listing.root, NULL, &listing.watch, &count_after);
            status = status == INGOT_SUCCESS ? counted : status;
        }
        end_listing(&listing);
        return status;
    }
    if (verification.is_repair)
        return ingot_set_error_detail(INGOT_READ_ONLY, "a bundle cannot be repaired");
    found->entry_count = bundle_entry_count(bundle);
    return bundle_for_each(bundle, verify_entry, &verification);
}

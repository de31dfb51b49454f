/*
 * headers.c - saves the header memos of contexts to a file in a store, and loads them from it; see headers.h. A custom
 * storage with an operation for this keeps them instead of a file.
 *
 * A memo is what a context learned about the files that its programs include. The file is replaced as a whole. Before a
 * process saves its memo, it adds the file's content to the memo, so that nothing that another process saved is lost.
 * If two processes save at once, the second one waits briefly. The lock guards the list of memos, and is not held while
 * a file is read or written.
 */
#include "persist/memo/headers.h"

#include <ingot/backend.h>
#include <ingot/private/header_memo.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "persist/base/memory.h"
#include "persist/base/replacement.h"
#include "persist/directory/directory.h"
#include "persist/storage/kinds.h"
#include "persist/storage/serving.h"
#include "persist/storage/storage.h"

#define MEMO_NAME "/headers.memo"
#define MAX_MEMO_SIZE ((size_t)16 << 20)

struct kept_memo {
    struct kept_memo *next;
    ingot_header_memo_t memo; /* the list's reference */
    uint64_t saved; /* ingot_header_memo_count_learned() at the last save that succeeded; guarded by the lock */
    uint64_t tried; /* the same, at the last save, successful or not */
};

struct headers {
    struct storage_part_base base;
    ingot_storage_t storage; /* the storage that these memos belong to */
    ingot_storage_t custom;  /* the custom storage that keeps them; NULL: the file does */
    struct kept_memo *first; /* guarded by the lock */
    bool is_read_only;
    size_t path_size;
    char *path;
};

/* ---- the file ---- */

/* Adds the file's content to a memo. */
static ingot_status_t add_memo_of_file(const struct headers *headers, ingot_header_memo_t memo)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    ingot_status_t status =
        replacement_read(headers->path, &headers->base.allocator, MAX_MEMO_SIZE, headers->is_read_only, &size, &bytes);
    if (status == INGOT_SUCCESS)
        status = ingot_header_memo_add_bytes(memo, size, bytes);
    memory_free(&headers->base.allocator, bytes, size);
    return status;
}

static ingot_status_t add_memo_of_custom_storage(ingot_storage_t custom, ingot_header_memo_t memo)
{
    ingot_buffer_t kept = INGOT_BUFFER_INIT;
    ingot_status_t status = storage_ops(custom)->load_memo(storage_self(custom, STORAGE_OTHER), &kept);
    if (status == INGOT_SUCCESS)
        status = ingot_header_memo_add_bytes(memo, kept.size, kept.bytes);
    memory_release_buffer(&kept);
    return status == INGOT_NOT_FOUND ? INGOT_SUCCESS : status;
}

static ingot_status_t store_memo_in_custom_storage(ingot_storage_t custom, size_t size, const uint8_t *bytes)
{
    return storage_ops(custom)->store_memo(storage_self(custom, STORAGE_OTHER), size, bytes);
}

/* Adds what was saved to a memo. If it is missing, damaged, or written by another build of Ingot, it counts as empty.
 */
static ingot_status_t add_saved_memo(const struct headers *headers, ingot_header_memo_t memo)
{
    const ingot_status_t status =
        headers->custom != NULL ? add_memo_of_custom_storage(headers->custom, memo) : add_memo_of_file(headers, memo);
    const bool is_replaceable = status == INGOT_NOT_FOUND || status == INGOT_BLOB_TRUNCATED ||
                                status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_VERSION ||
                                status == INGOT_BLOB_STALE;
    return is_replaceable ? INGOT_SUCCESS : status;
}

/* Copies the memo's bytes. Tries again if the memo grows between the call for the size and the call for the bytes. */
static ingot_status_t get_bytes(const struct headers *headers, ingot_header_memo_t memo, uint8_t **bytes, size_t *size)
{
    ingot_status_t status = ingot_header_memo_get_bytes(memo, size, NULL);
    while (status == INGOT_SUCCESS) {
        const size_t room = *size;
        *bytes = memory_allocate(&headers->base.allocator, room);
        if (*bytes == NULL)
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a memo of %zu bytes", room);
        status = ingot_header_memo_get_bytes(memo, size, *bytes);
        if (status == INGOT_SUCCESS && *size == room)
            return INGOT_SUCCESS;
        memory_free(&headers->base.allocator, *bytes, room);
        *bytes = NULL;
        if (status == INGOT_SUCCESS || status == INGOT_BUFFER_TOO_SMALL)
            status = ingot_header_memo_get_bytes(memo, size, NULL);
    }
    return status;
}

/* Adds what was saved to the memo, and writes the memo: to the file's replacement, whose beginning keeps other
 * processes from writing the file, or to the custom storage. */
static ingot_status_t write_memo(const struct headers *headers, ingot_header_memo_t memo,
                                 const struct replacement *replacement)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    ingot_status_t status = add_saved_memo(headers, memo);
    if (status == INGOT_SUCCESS)
        status = get_bytes(headers, memo, &bytes, &size);
    if (status == INGOT_SUCCESS)
        status = replacement != NULL ? replacement_write(replacement, 0, size, bytes)
                                     : store_memo_in_custom_storage(headers->custom, size, bytes);
    if (bytes != NULL)
        memory_free(&headers->base.allocator, bytes, size);
    return status;
}

static ingot_status_t save_memo(const struct headers *headers, ingot_header_memo_t memo)
{
    struct replacement replacement;
    if (headers->custom != NULL)
        return write_memo(headers, memo, NULL);
    const ingot_status_t status = replacement_begin_patiently(&replacement, headers->path);
    return status == INGOT_SUCCESS ? replacement_end(&replacement, write_memo(headers, memo, &replacement)) : status;
}

/* ---- the list ---- */

/* Removes from the list a memo that is no longer in use and has nothing to save. Returns the memo, or NULL if there is
 * no such memo. Requires the lock. The caller releases the memo after it has released the lock. */
static struct kept_memo *take_unused(struct headers *headers)
{
    for (struct kept_memo **at = &headers->first; *at != NULL; at = &(*at)->next) {
        struct kept_memo *kept = *at;
        if (!ingot_header_memo_is_in_use(kept->memo) && ingot_header_memo_count_learned(kept->memo) == kept->saved) {
            *at = kept->next;
            return kept;
        }
    }
    return NULL;
}

static void release_kept_memo(const struct headers *headers, struct kept_memo *kept)
{
    if (kept == NULL)
        return;
    ingot_header_memo_release(kept->memo);
    memory_free(&headers->base.allocator, kept, sizeof(*kept));
}

/* Returns a reference to a memo that should be saved, and marks the memo as saved. Returns NULL if there is no such
 * memo. Unless is_urgent is set, a save that failed is not tried again, and a memo in use is not saved until it has
 * learned twice as much as before. */
static ingot_header_memo_t next_memo_to_save(struct headers *headers, bool is_urgent, uint64_t *saved_before)
{
    ingot_header_memo_t memo = NULL;
    pthread_mutex_lock(&headers->base.lock);
    for (struct kept_memo *kept = headers->first; kept != NULL && memo == NULL; kept = kept->next) {
        const uint64_t learned = ingot_header_memo_count_learned(kept->memo);
        const bool is_learning = ingot_header_memo_is_in_use(kept->memo) && learned < 2 * kept->tried;
        if (learned == kept->saved || (!is_urgent && (is_learning || learned == kept->tried)))
            continue;
        memo = kept->memo;
        *saved_before = kept->saved;
        kept->saved = kept->tried = learned;
        ingot_header_memo_retain(memo);
    }
    pthread_mutex_unlock(&headers->base.lock);
    return memo;
}

/* Undoes the mark of next_memo_to_save, so that the next flush saves the memo. */
static void take_for_unsaved(struct headers *headers, ingot_header_memo_t memo, uint64_t saved)
{
    pthread_mutex_lock(&headers->base.lock);
    struct kept_memo *kept = headers->first;
    while (kept != NULL && kept->memo != memo)
        kept = kept->next;
    if (kept != NULL)
        kept->saved = saved;
    pthread_mutex_unlock(&headers->base.lock);
}

static bool is_on(const struct headers *headers)
{
    return storage_is_on(headers->storage) && storage_is_on(storage_stored_to(headers->storage));
}

static ingot_status_t save_changed_memos(struct headers *headers, bool is_urgent)
{
    ingot_status_t status = INGOT_SUCCESS;
    ingot_header_memo_t memo;
    uint64_t before = 0;
    while (!headers->is_read_only && is_on(headers) && status == INGOT_SUCCESS &&
           (memo = next_memo_to_save(headers, is_urgent, &before)) != NULL) {
        status = save_memo(headers, memo);
        if (status != INGOT_SUCCESS)
            take_for_unsaved(headers, memo, before);
        ingot_header_memo_release(memo);
    }
    return status;
}

void headers_note(ingot_storage_t storage)
{
    struct headers *headers = storage_get_part(storage, STORAGE_HEADERS);
    if (headers != NULL)
        (void)save_changed_memos(headers, false); /* on failure, the next flush saves what was learned */
}

ingot_status_t headers_save(ingot_storage_t storage)
{
    struct headers *headers = storage_get_part(storage, STORAGE_HEADERS);
    return headers != NULL ? save_changed_memos(headers, true) : INGOT_SUCCESS;
}

/* ---- beginning and ending ---- */

static void end_header_memos(void *part)
{
    struct headers *headers = part;
    (void)save_changed_memos(headers, true);
    pthread_mutex_lock(&headers->base.lock);
    struct kept_memo *kept = headers->first;
    pthread_mutex_unlock(&headers->base.lock);
    while (kept != NULL) {
        struct kept_memo *next = kept->next;
        release_kept_memo(headers, kept);
        kept = next;
    }
    memory_free(&headers->base.allocator, headers->path, headers->path_size);
}

static ingot_status_t begin_headers(void *part, ingot_storage_t storage)
{
    struct headers *headers = part;
    ingot_storage_t keeper = storage_stored_to(storage);
    headers->storage = storage;
    headers->custom = storage_ops(keeper)->load_memo != NULL ? keeper : NULL;
    headers->is_read_only = headers->custom != NULL && storage_ops(keeper)->store_memo == NULL;
    const char *root = headers->custom == NULL ? directory_path_of(keeper, &headers->is_read_only) : "";
    if (root == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                      "the storage is neither a directory store, nor a custom storage with load_memo, "
                                      "nor a chain that stores to one");
    headers->path_size = strlen(root) + sizeof(MEMO_NAME);
    headers->path = memory_allocate(&headers->base.allocator, headers->path_size);
    if (headers->path == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for memos of headers");
    memcpy(headers->path, root, strlen(root));
    memcpy(headers->path + strlen(root), MEMO_NAME, sizeof(MEMO_NAME));
    return INGOT_SUCCESS;
}

static ingot_status_t keep_header_memo(struct headers *headers, ingot_header_memo_t memo)
{
    struct kept_memo *made = memory_allocate(&headers->base.allocator, sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a memo of headers");
    pthread_mutex_lock(&headers->base.lock);
    struct kept_memo *unused = take_unused(headers);
    struct kept_memo *kept = headers->first;
    while (kept != NULL && kept->memo != memo)
        kept = kept->next;
    if (kept == NULL) {
        *made = (struct kept_memo){.next = headers->first, .memo = memo};
        ingot_header_memo_retain(memo);
        headers->first = made;
        made = NULL;
    }
    pthread_mutex_unlock(&headers->base.lock);
    release_kept_memo(headers, unused);
    if (made != NULL)
        memory_free(&headers->base.allocator, made, sizeof(*made));
    return INGOT_SUCCESS;
}

ingot_status_t headers_remember(ingot_storage_t storage, ingot_header_memo_t memo)
{
    static const struct storage_part_kind kind = {sizeof(struct headers), begin_headers, end_header_memos};
    void *part;
    ingot_status_t status = storage_make_part(storage, STORAGE_HEADERS, &kind, &part);
    if (status != INGOT_SUCCESS)
        return status;
    struct headers *headers = part;
    if (is_on(headers))
        status = add_saved_memo(headers, memo);
    return status == INGOT_SUCCESS && !headers->is_read_only ? keep_header_memo(headers, memo) : status;
}

ingot_status_t ingot_persist_remember_headers(ingot_storage_t storage, ingot_context_t context)
{
    if (context == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context is NULL");
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    ingot_header_memo_t memo = ingot_context_get_header_memo(context);
    return memo != NULL ? headers_remember(storage, memo) : INGOT_SUCCESS;
}

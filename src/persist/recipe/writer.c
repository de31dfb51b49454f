/*
 * writer.c - appends records to a recipe file; see writer.h.
 *
 * The file is opened for each addition, so it does not matter if the application forks, changes its directory, or
 * replaces the file. A lock on the open file excludes other processes that append. Looking for a record needs no lock:
 * a record that is not finished yet does not count. The writer's lock excludes other threads, and guards what is known
 * about the file. It is held while the file is read and written, but not while records are compressed. A forked child
 * must not use a writer of its parent.
 */
#include "persist/recipe/writer.h"

#include <errno.h>
#include <ingot/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/recipe/file.h"
#include "persist/recipe/index.h"
#include "persist/storage/events.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define DEFAULT_LOCK_TIMEOUT_MS 200u
/* A file is full if less than 1/SMALL_PART of its limit and less than SMALL_BYTES are left. */
#define SMALL_PART 16u
#define SMALL_BYTES (UINT64_C(64) << 10)

/* Why nothing can be appended to a damaged, untrusted or read-only file. As long as the file does not change, this
 * saves the work of an addition: reading and compressing all texts of a program, and locking the file. */
struct refusal {
    ingot_status_t status; /* INGOT_SUCCESS: none */
    struct file_facts facts;
    char detail[512];
};

struct ingot_recipe_writer {
    atomic_size_t references;
    ingot_allocator_t allocator;
    char *path; /* absolute */
    size_t path_size;
    uint64_t max_bytes;
    uint64_t lock_timeout_ns;
    bool is_kept; /* true for a store's own recipe: the writer creates the file's directory */
    ingot_event_callback_t on_event;
    void *on_event_user;
    atomic_uint told; /* a bit per status that was reported; relaxed: no other data depends on it */
    pthread_mutex_t lock;
    /* the lock guards the following fields */
    struct recipe_index index;
    struct file_facts expected; /* the only file to add to, by device and inode; inode 0: any file */
    struct refusal refusal;
};

/* ---- looking for records ---- */

/* Reads what is new in the file. Does nothing if the file cannot be opened. Requires the writer's lock. */
static void refresh_recipe_index(struct ingot_recipe_writer *writer)
{
    struct file_facts facts;
    const int result = recipe_file_facts(writer->path, &facts);
    if (result == -ENOENT || result == -ENOTDIR)
        recipe_index_fini(&writer->index);
    if (result < 0 || recipe_file_is_unchanged(&writer->index.facts, &facts))
        return;
    const int fd = files_open_path(writer->path);
    if (fd < 0)
        return;
    if (recipe_file_check(fd, writer->path, &facts) == INGOT_SUCCESS)
        (void)recipe_index_read(&writer->index, fd, writer->path, &facts); /* the next addition reports a failure */
    else
        recipe_index_fini(&writer->index);
    (void)files_close(fd);
}

/* Returns the status of an addition if it is known that it would fail. Requires the lock. */
static ingot_status_t find_refusal(const struct ingot_recipe_writer *writer)
{
    struct file_facts facts;
    const struct refusal *refusal = &writer->refusal;
    const uint64_t part = writer->max_bytes / SMALL_PART, small = part < SMALL_BYTES ? part : SMALL_BYTES;
    const uint64_t size = writer->index.scan.offset;
    if (size != 0 && size + small > writer->max_bytes)
        return ingot_set_error_detail(INGOT_NO_SPACE, "%s has %llu bytes, and its limit is %llu", writer->path,
                                      (unsigned long long)size, (unsigned long long)writer->max_bytes);
    if (refusal->status != INGOT_SUCCESS && recipe_file_facts(writer->path, &facts) == 0 &&
        recipe_file_is_unchanged(&refusal->facts, &facts))
        return ingot_set_error_detail(refusal->status, "%s", refusal->detail);
    return INGOT_SUCCESS;
}

/* Remembers why the file could not be used, if that can only change with the file. Requires the lock. */
static void note_refusal(struct ingot_recipe_writer *writer, ingot_status_t status)
{
    struct refusal *refusal = &writer->refusal;
    const bool is_lasting = status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED ||
                            status == INGOT_BLOB_VERSION || status == INGOT_UNTRUSTED || status == INGOT_READ_ONLY;
    (void)snprintf(refusal->detail, sizeof(refusal->detail), "%s", ingot_last_error_detail());
    refusal->status = is_lasting && recipe_file_facts(writer->path, &refusal->facts) == 0 ? status : INGOT_SUCCESS;
}

ingot_status_t writer_look_up(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key,
                              bool *is_there)
{
    pthread_mutex_lock(&writer->lock);
    refresh_recipe_index(writer);
    *is_there = recipe_index_has(&writer->index, (uint32_t)kind, key);
    const ingot_status_t status = *is_there ? INGOT_SUCCESS : find_refusal(writer);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

bool writer_knows(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key)
{
    pthread_mutex_lock(&writer->lock);
    const bool is_there = recipe_index_has(&writer->index, (uint32_t)kind, key);
    pthread_mutex_unlock(&writer->lock);
    return is_there;
}

bool writer_find_program(ingot_recipe_writer_t writer, const uint8_t *id_key, uint8_t *program_key)
{
    pthread_mutex_lock(&writer->lock);
    const bool is_there = recipe_index_find_program(&writer->index, id_key, program_key);
    pthread_mutex_unlock(&writer->lock);
    return is_there;
}

/* ---- the open file ---- */

void writer_expect(ingot_recipe_writer_t writer, const struct file_facts *facts)
{
    pthread_mutex_lock(&writer->lock);
    writer->expected = *facts;
    pthread_mutex_unlock(&writer->lock);
}

static bool is_expected(const struct ingot_recipe_writer *writer)
{
    const struct file_facts *facts = &writer->index.facts, *expected = &writer->expected;
    return expected->inode == 0 || (facts->device == expected->device && facts->inode == expected->inode);
}

/* Removes a record that was not finished, and writes the header of a new file. Requires both locks. */
static ingot_status_t tidy_recipe_file(struct ingot_recipe_writer *writer, int fd)
{
    uint8_t header[RECIPE_HEADER_SIZE];
    struct recipe_scan *scan = &writer->index.scan;
    int result = 0;
    if (scan->file_size > scan->offset)
        result = files_truncate(fd, scan->offset);
    if (result == 0 && scan->offset == 0) {
        if (!files_may_grow_to(sizeof(header)))
            return files_write_failed(-EFBIG, "writing", writer->path);
        recipe_put_header(header);
        result = files_write_at(fd, 0, sizeof(header), header);
        scan->offset = result == 0 ? sizeof(header) : 0;
    }
    return result < 0 ? files_write_failed(result, "writing", writer->path) : INGOT_SUCCESS;
}

/* Unlocks and closes the file. Closing alone is not enough, because a child that was forked while the file was open
 * shares the open file. */
static void unlock_and_close_file(int fd)
{
    (void)files_unlock(fd, 0);
    (void)files_close(fd);
}

/* Locks the open file, reads what is new in it, and prepares it for an addition. Requires the writer's lock. */
static ingot_status_t prepare_recipe_file(struct ingot_recipe_writer *writer, int fd)
{
    struct file_facts facts;
    ingot_status_t status = recipe_file_check(fd, writer->path, &facts);
    if (status == INGOT_SUCCESS)
        status = recipe_file_lock(fd, writer->path, writer->lock_timeout_ns);
    if (status == INGOT_SUCCESS)
        status = recipe_file_check(fd, writer->path, &facts); /* checks again, now that no process can append */
    if (status == INGOT_SUCCESS)
        status = recipe_index_read(&writer->index, fd, writer->path, &facts);
    if (status == INGOT_SUCCESS && !is_expected(writer))
        status = ingot_set_error_detail(INGOT_BUSY, "%s was replaced meanwhile: try again", writer->path);
    return status == INGOT_SUCCESS ? tidy_recipe_file(writer, fd) : status;
}

/* Opens and locks the file, and reads what is new. Requires the writer's lock. */
static ingot_status_t open_locked_recipe(struct ingot_recipe_writer *writer, int *fd)
{
    ingot_status_t status;
    *fd = recipe_file_open(writer->path, writer->is_kept);
    if (*fd < 0) {
        status = *fd == -ENOENT ? files_read_failed(*fd, "opening", writer->path)
                                : files_write_failed(*fd, "opening", writer->path);
    } else {
        status = prepare_recipe_file(writer, *fd);
        if (status != INGOT_SUCCESS)
            unlock_and_close_file(*fd);
    }
    note_refusal(writer, status);
    return status;
}

/* ---- appending ---- */

static ingot_status_t encode_item_record(const struct ingot_recipe_writer *writer, struct recipe_item *item)
{
    const uint64_t most = item->kind == RECIPE_RECORD_PROGRAM ? RECIPE_MAX_PROGRAM_BYTES : RECIPE_MAX_TEXT_BYTES;
    if (item->size > most)
        return ingot_set_error_detail(INGOT_NO_SPACE, "%s: %zu bytes exceed the limit of a recipe's record",
                                      writer->path, item->size);
    recipe_record_put(&item->encoded, item->kind, item->key, item->size, item->content);
    return item->encoded.failed
               ? ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a record of %zu bytes", item->size)
               : INGOT_SUCCESS;
}

/* Encodes the records that the file is not known to have. Sets *is_needed to true if there are any. */
static ingot_status_t encode_needed(ingot_recipe_writer_t writer, size_t count, struct recipe_item *items,
                                    bool *is_needed)
{
    ingot_status_t status = INGOT_SUCCESS;
    *is_needed = false;
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        if (writer_knows(writer, items[i].kind, items[i].key))
            continue;
        *is_needed = true;
        status = encode_item_record(writer, &items[i]);
    }
    return status;
}

/* Checks the limits of the file with the records that it does not have. Counts a record twice if the addition has it
 * twice. Encodes a record that is missing only because the file was replaced meanwhile. */
static ingot_status_t check_recipe_room(const struct ingot_recipe_writer *writer, size_t count,
                                        struct recipe_item *items)
{
    struct recipe_scan scan = writer->index.scan;
    for (size_t i = 0; i < count; ++i) {
        if (recipe_index_has(&writer->index, (uint32_t)items[i].kind, items[i].key))
            continue;
        const ingot_status_t status =
            items[i].encoded.size == 0 ? encode_item_record(writer, &items[i]) : INGOT_SUCCESS;
        if (status != INGOT_SUCCESS)
            return status;
        scan.offset += items[i].encoded.size;
        recipe_scan_count(&scan, (uint32_t)items[i].kind, items[i].size);
    }
    if (scan.kernel_bytes > RECIPE_MAX_ALL_KERNEL_NAMES_BYTES)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the names of the kernels of %s would have more than 16 MiB",
                                      writer->path);
    if (scan.program_bytes > RECIPE_MAX_ALL_PROGRAMS_BYTES)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the programs of %s would have more than 256 MiB without texts",
                                      writer->path);
    if (scan.offset > writer->max_bytes || scan.count > RECIPE_MAX_RECORDS)
        return ingot_set_error_detail(INGOT_NO_SPACE, "%s would have %llu bytes, and its limit is %llu", writer->path,
                                      (unsigned long long)scan.offset, (unsigned long long)writer->max_bytes);
    return files_may_grow_to(scan.offset) ? INGOT_SUCCESS : files_write_failed(-EFBIG, "writing", writer->path);
}

/* Puts the records that the file does not have into the batch, and adds them to the index. */
static ingot_status_t gather_missing_records(struct recipe_index *index, size_t count, const struct recipe_item *items,
                                             struct bytes_writer *batch)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        const struct recipe_item *item = &items[i];
        if (recipe_index_has(index, (uint32_t)item->kind, item->key))
            continue;
        index->last = index->scan.offset + batch->size;
        memcpy(index->last_header, item->encoded.bytes, sizeof(index->last_header));
        bytes_put(batch, item->encoded.size, item->encoded.bytes);
        recipe_scan_count(&index->scan, (uint32_t)item->kind, item->size);
        status = recipe_index_add(index, (uint32_t)item->kind, item->key, item->content);
    }
    return status == INGOT_SUCCESS && batch->failed
               ? ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu records", count)
               : status;
}

/* Writes the batch. If that fails, removes what was written. */
static ingot_status_t write_batch(struct ingot_recipe_writer *writer, int fd, const struct bytes_writer *batch)
{
    struct recipe_index *index = &writer->index;
    const int result = files_write_at(fd, index->scan.offset, batch->size, batch->bytes);
    if (result < 0) {
        (void)files_truncate(fd, index->scan.offset);
        return files_write_failed(result, "writing", writer->path);
    }
    index->scan.offset += batch->size;
    (void)files_facts(fd, &index->facts); /* if it fails, the next reading finds nothing new */
    return INGOT_SUCCESS;
}

/* Writes the records that the file does not have to the open file. Requires both locks. */
static ingot_status_t write_needed(struct ingot_recipe_writer *writer, int fd, size_t count,
                                   const struct recipe_item *items)
{
    struct bytes_writer batch;
    bytes_writer_init(&batch, &writer->allocator);
    ingot_status_t status = gather_missing_records(&writer->index, count, items, &batch);
    if (status == INGOT_SUCCESS && batch.size != 0)
        status = write_batch(writer, fd, &batch);
    if (status != INGOT_SUCCESS)
        recipe_index_fini(&writer->index); /* it has records that the file does not have */
    bytes_writer_fini(&batch);
    return status;
}

/* Appends the records that the file does not have. Requires the lock. */
static ingot_status_t append_missing_records(struct ingot_recipe_writer *writer, size_t count,
                                             struct recipe_item *items)
{
    int fd;
    ingot_status_t status = open_locked_recipe(writer, &fd);
    if (status != INGOT_SUCCESS)
        return status;
    status = check_recipe_room(writer, count, items);
    if (status == INGOT_SUCCESS)
        status = write_needed(writer, fd, count, items);
    unlock_and_close_file(fd);
    return status;
}

ingot_status_t writer_append(ingot_recipe_writer_t writer, size_t count, struct recipe_item *items)
{
    bool is_needed = false;
    for (size_t i = 0; i < count; ++i)
        bytes_writer_init(&items[i].encoded, &writer->allocator);
    ingot_status_t status = encode_needed(writer, count, items, &is_needed);
    if (status == INGOT_SUCCESS && is_needed) {
        pthread_mutex_lock(&writer->lock);
        status = append_missing_records(writer, count, items);
        pthread_mutex_unlock(&writer->lock);
    }
    for (size_t i = 0; i < count; ++i)
        bytes_writer_fini(&items[i].encoded);
    return status;
}

const ingot_allocator_t *writer_allocator(ingot_recipe_writer_t writer)
{
    return &writer->allocator;
}

void writer_tell(ingot_recipe_writer_t writer, ingot_status_t status, uint64_t started_ns, const char *reason)
{
    const unsigned bit = 1u << ((unsigned)status % 32u);
    if ((atomic_fetch_or_explicit(&writer->told, bit, memory_order_relaxed) & bit) == 0)
        events_tell(writer->on_event, writer->on_event_user, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns, "",
                    reason);
}

/* ---- the object ---- */

static void destroy_writer(struct ingot_recipe_writer *writer)
{
    const ingot_allocator_t allocator = writer->allocator;
    recipe_index_fini(&writer->index);
    pthread_mutex_destroy(&writer->lock);
    memory_free(&allocator, writer->path, writer->path_size);
    memory_free(&allocator, writer, sizeof(*writer));
}

static ingot_status_t make_writer(struct ingot_recipe_writer **writer, const ingot_recipe_record_info_t *info)
{
    ingot_allocator_t allocator;
    (void)memory_init(&allocator, NULL);
    struct ingot_recipe_writer *made = memory_allocate(&allocator, sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a writer of recipes");
    const uint32_t timeout_ms = info->lock_timeout_ms != 0 ? info->lock_timeout_ms : DEFAULT_LOCK_TIMEOUT_MS;
    *made = (struct ingot_recipe_writer){.allocator = allocator,
                                         .max_bytes = info->max_bytes != 0 ? info->max_bytes : DEFAULT_BYTES,
                                         .lock_timeout_ns = timeout_ms * NS_PER_MS,
                                         .on_event = info->on_event,
                                         .on_event_user = info->on_event_user};
    atomic_init(&made->references, 1);
    atomic_init(&made->told, 0);
    recipe_index_init(&made->index, &made->allocator);
    pthread_mutex_init(&made->lock, NULL);
    const ingot_status_t status = files_absolute(info->path, &made->allocator, &made->path, &made->path_size);
    if (status != INGOT_SUCCESS) {
        destroy_writer(made);
        return status;
    }
    *writer = made;
    return INGOT_SUCCESS;
}

/* When a new writer opens its file for the first time. */
enum opening { OPEN_NOW, OPEN_NOW_UNLESS_BUSY, OPEN_WHEN_NEEDED };

static ingot_status_t try_open_recipe(struct ingot_recipe_writer *writer)
{
    int fd = -1;
    pthread_mutex_lock(&writer->lock);
    const ingot_status_t status = open_locked_recipe(writer, &fd);
    if (status == INGOT_SUCCESS)
        unlock_and_close_file(fd);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

static ingot_status_t open_writer(ingot_recipe_writer_t *writer, const ingot_recipe_record_info_t *info,
                                  enum opening opening)
{
    ingot_recipe_record_info_t known;
    struct ingot_recipe_writer *made = NULL;
    if (writer == NULL || !STRUCT_READ(known, info) || known.path == NULL || known.path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "writer, info, its struct_size or its path is missing");
    if (known.max_bytes > RECIPE_MAX_FILE_BYTES)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's max_bytes is more than 1 GiB");
    ingot_status_t status = make_writer(&made, &known);
    if (status != INGOT_SUCCESS)
        return status;
    made->is_kept = opening == OPEN_WHEN_NEEDED;
    if (opening != OPEN_WHEN_NEEDED)
        status = try_open_recipe(made);
    if (status != INGOT_SUCCESS && !(opening == OPEN_NOW_UNLESS_BUSY && status == INGOT_BUSY)) {
        destroy_writer(made);
        return status;
    }
    *writer = made;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_recipe_writer_open(ingot_recipe_writer_t *writer, const ingot_recipe_record_info_t *info)
{
    return open_writer(writer, info, OPEN_NOW);
}

ingot_status_t writer_open_later(ingot_recipe_writer_t *writer, const ingot_recipe_record_info_t *info)
{
    return open_writer(writer, info, OPEN_NOW_UNLESS_BUSY);
}

ingot_status_t writer_open_kept(ingot_recipe_writer_t *writer, const ingot_recipe_record_info_t *info)
{
    return open_writer(writer, info, OPEN_WHEN_NEEDED);
}

void writer_reference(ingot_recipe_writer_t writer)
{
    if (writer != NULL)
        (void)atomic_fetch_add_explicit(&writer->references, 1, memory_order_relaxed);
}

void ingot_recipe_writer_release(ingot_recipe_writer_t writer)
{
    /* acq_rel: what other threads did with the writer happens before it is freed */
    if (writer != NULL && atomic_fetch_sub_explicit(&writer->references, 1, memory_order_acq_rel) == 1)
        destroy_writer(writer);
}

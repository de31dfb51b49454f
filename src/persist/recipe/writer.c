/*
 * writer.c - appends records to a recipe file; see writer.h.
 *
 * The file is opened for each addition, so it does not matter if the application forks, changes its directory, or
 * replaces the file. A lock on the open file excludes other processes. The writer's lock excludes other threads, and
 * guards what is known about the file. It is held while the file is read and written, but not while records are
 * compressed. A forked child forgets what is known about the file.
 */
#include "persist/recipe/writer.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdatomic.h>
#include <string.h>

#include "persist/base/containers/key_map.h"
#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/base/process_lock.h"
#include "persist/recipe/file.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define DEFAULT_LOCK_TIMEOUT_MS 200u
/* A file is full if less than 1/SMALL_PART of its limit and less than SMALL_BYTES are left. */
#define SMALL_PART 16u
#define SMALL_BYTES (UINT64_C(64) << 10)

_Static_assert(KEY_MAP_KEY_SIZE == INGOT_RECIPE_KEY_SIZE, "the keys of records are the keys of maps");
_Static_assert(RECIPE_MARK_SIZE == RECIPE_RECORD_SIZE, "a mark has a record's header");

struct ingot_recipe_writer {
    atomic_size_t references;
    ingot_allocator_t allocator;
    char *path; /* absolute */
    size_t path_size;
    uint64_t max_bytes;
    uint64_t lock_timeout_ns;
    /* true for a store's own recipe: the writer creates the file's directory, reads the file when it is first needed,
     * and remembers why additions fail */
    bool is_kept;
    ingot_event_callback_t on_event;
    void *on_event_user;
    atomic_uint told; /* a bit per status that was reported; relaxed: no other data depends on it */
    struct process_lock lock;
    /* the lock guards the following fields */
    struct key_map known[RECIPE_KIND_COUNT]; /* per kind of record: maps keys to offsets in the file */
    struct recipe_mark mark;                 /* of the known file */
    struct recipe_scan scan;                 /* its offset is where the known part of the file ends */
    struct file_facts expected;              /* the only file to add to, by device and inode; inode 0: any file */
    struct kept_file file;                   /* open and locked during an addition */
    bool was_read;                           /* true: learn_once has read the file, or cannot use it */
    struct recipe_failure failure;           /* the last lasting failure; see is_lasting */
};

/* ---- what is known of the file ---- */

static void forget_file(struct ingot_recipe_writer *writer)
{
    for (size_t i = 0; i < RECIPE_KIND_COUNT; ++i)
        key_map_fini(&writer->known[i]);
    writer->mark = (struct recipe_mark){.last = 0};
    writer->scan = (struct recipe_scan){.fd = -1};
}

/* Called in a forked child. Leaks the memory of the maps, because a thread of the parent may have been changing them.
 * If the parent was adding a record, closes the file that the child inherited. Otherwise, the file would stay locked if
 * the parent were killed. */
static void forget(void *user)
{
    struct ingot_recipe_writer *writer = user;
    kept_file_end(&writer->file);
    writer->was_read = false;
    writer->failure.status = INGOT_SUCCESS;
    for (size_t i = 0; i < RECIPE_KIND_COUNT; ++i)
        key_map_init(&writer->known[i], &writer->allocator);
    writer->mark = (struct recipe_mark){.last = 0};
    writer->scan = (struct recipe_scan){.fd = -1};
}

static void lock(struct ingot_recipe_writer *writer)
{
    process_lock_take(&writer->lock, forget, writer);
}

static bool is_known(const struct ingot_recipe_writer *writer, uint32_t kind, const uint8_t *key)
{
    return kind < RECIPE_KIND_COUNT && key_map_find(&writer->known[kind], key, NULL);
}

/* Notes the offset of a record. */
static ingot_status_t learn(struct ingot_recipe_writer *writer, uint32_t kind, const uint8_t *key, uint64_t offset)
{
    if (kind >= RECIPE_KIND_COUNT || is_known(writer, kind, key) ||
        key_map_add(&writer->known[kind], key, (size_t)offset))
        return INGOT_SUCCESS;
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the keys of %s", writer->path);
}

/* ---- the open file ---- */

/* Reads the headers of the records that were appended since the last time. Requires both locks. */
static ingot_status_t catch_up(struct ingot_recipe_writer *writer, int fd, const struct file_facts *facts)
{
    struct recipe_record record;
    enum recipe_found found = RECIPE_FOUND_RECORD;
    ingot_status_t status = INGOT_SUCCESS;
    uint64_t last = 0;
    if (!recipe_mark_fits(&writer->mark, fd, facts, writer->scan.offset)) {
        forget_file(writer);
        writer->mark.facts = *facts;
    }
    if (writer->scan.offset == 0)
        status = recipe_scan_begin(&writer->scan, fd, facts->size_bytes, writer->path);
    writer->scan.fd = fd;
    writer->scan.file_size = facts->size_bytes;
    while (status == INGOT_SUCCESS && found == RECIPE_FOUND_RECORD) {
        status = recipe_scan_next(&writer->scan, &record, &found);
        if (status == INGOT_SUCCESS && found == RECIPE_FOUND_RECORD) {
            last = record.content - RECIPE_RECORD_SIZE;
            status = learn(writer, record.kind, record.key, last);
        }
    }
    if (status == INGOT_SUCCESS && last != 0)
        status = recipe_mark_read(&writer->mark, fd, writer->path, last);
    if (status == INGOT_SUCCESS && found == RECIPE_FOUND_UNREADABLE)
        status =
            ingot_set_error_detail(INGOT_BLOB_CORRUPT,
                                   "%s is damaged from byte %llu on, so nothing is appended; copy what is readable "
                                   "into a new file (ingot recipe merge)",
                                   writer->path, (unsigned long long)writer->scan.offset);
    if (status != INGOT_SUCCESS)
        forget_file(writer);
    return status;
}

/* Removes a record that was not finished, and writes the header of a new file. Requires both locks. */
static ingot_status_t tidy(struct ingot_recipe_writer *writer, int fd)
{
    uint8_t header[RECIPE_HEADER_SIZE];
    int result = 0;
    if (writer->scan.file_size > writer->scan.offset)
        result = files_truncate(fd, writer->scan.offset);
    if (result == 0 && writer->scan.offset == 0) {
        if (!files_may_grow_to(sizeof(header)))
            return files_write_failed(-EFBIG, "writing", writer->path);
        recipe_put_header(header);
        result = files_write_at(fd, 0, sizeof(header), header);
        writer->scan.offset = result == 0 ? sizeof(header) : 0;
    }
    return result < 0 ? files_write_failed(result, "writing", writer->path) : INGOT_SUCCESS;
}

/* Unlocks and closes the file. Closing alone is not enough, because a child that was forked while the file was open
 * shares the open file. */
static void close_file(struct ingot_recipe_writer *writer)
{
    (void)files_unlock(writer->file.fd, 0);
    kept_file_end(&writer->file);
}

/* Takes over `fd`, the result of opening the file. Locks the file, and reads its new records. Requires the writer's
 * lock. */
static ingot_status_t take_file(struct ingot_recipe_writer *writer, int fd, bool is_shared)
{
    struct file_facts facts;
    if (fd < 0)
        return fd == -ENOENT ? files_read_failed(fd, "opening", writer->path)
                             : files_write_failed(fd, "opening", writer->path);
    const int kept = files_keep(fd, &writer->file);
    if (kept < 0)
        return files_write_failed(kept, "examining", writer->path);
    ingot_status_t status = recipe_file_check(fd, writer->path, &facts);
    if (status == INGOT_SUCCESS)
        status = recipe_file_lock(fd, writer->path, is_shared, writer->lock_timeout_ns);
    if (status == INGOT_SUCCESS)
        status = recipe_file_check(fd, writer->path, &facts); /* checks again, now that no process can append */
    if (status == INGOT_SUCCESS)
        status = catch_up(writer, fd, &facts);
    if (status != INGOT_SUCCESS)
        close_file(writer);
    return status;
}

static bool is_expected(const struct ingot_recipe_writer *writer)
{
    const struct file_facts *facts = &writer->mark.facts, *expected = &writer->expected;
    return expected->inode == 0 || (facts->device == expected->device && facts->inode == expected->inode);
}

void writer_expect(ingot_recipe_writer_t writer, const struct file_facts *facts)
{
    lock(writer);
    writer->expected = *facts;
    process_lock_give(&writer->lock);
}

/* Opens and locks the file, and reads what is new. Requires the writer's lock. */
static ingot_status_t open_file(struct ingot_recipe_writer *writer)
{
    ingot_status_t status = take_file(writer, recipe_file_open(writer->path, writer->is_kept), false);
    if (status != INGOT_SUCCESS)
        return status;
    if (!is_expected(writer))
        status = ingot_set_error_detail(INGOT_BUSY, "%s was replaced meanwhile: try again", writer->path);
    if (status == INGOT_SUCCESS)
        status = tidy(writer, writer->file.fd);
    if (status != INGOT_SUCCESS)
        close_file(writer);
    return status;
}

/* Opens the file with a shared lock, and reads what is new. Returns INGOT_NOT_FOUND if there is no file. Requires the
 * writer's lock. */
static ingot_status_t open_to_read(struct ingot_recipe_writer *writer)
{
    return take_file(writer, recipe_file_open_existing(writer->path), true);
}

/* Reads the file if there is one. Requires the writer's lock. */
static ingot_status_t learn_file(struct ingot_recipe_writer *writer)
{
    const ingot_status_t status = open_to_read(writer);
    if (status == INGOT_SUCCESS)
        close_file(writer);
    return status == INGOT_NOT_FOUND ? INGOT_SUCCESS : status;
}

/* True if later additions would fail with the same status. bytes: the size of the failed addition. If there was no room
 * for a large addition, there may still be room for a smaller one. */
static bool is_lasting(const struct ingot_recipe_writer *writer, ingot_status_t status, uint64_t bytes)
{
    const uint64_t part = writer->max_bytes / SMALL_PART, small = part < SMALL_BYTES ? part : SMALL_BYTES;
    if (status == INGOT_NO_SPACE)
        return bytes <= small || writer->scan.offset + small > writer->max_bytes;
    return status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_VERSION ||
           status == INGOT_UNTRUSTED || status == INGOT_READ_ONLY;
}

/* Remembers a lasting failure of a kept file, and forgets it after the first success. Requires the lock. */
static void note_failure(struct ingot_recipe_writer *writer, ingot_status_t status, uint64_t bytes)
{
    if (status == INGOT_SUCCESS)
        writer->failure.status = INGOT_SUCCESS;
    else if (writer->is_kept && is_lasting(writer, status, bytes))
        recipe_failure_note(&writer->failure, status, writer->path);
}

/* Forgets what is known about the file if it was replaced or removed. Does nothing if that cannot be determined.
 * Requires the lock. */
static void forget_if_gone(struct ingot_recipe_writer *writer)
{
    if (writer->scan.offset == 0 || !recipe_mark_is_gone(&writer->mark, writer->path, writer->scan.offset))
        return;
    forget_file(writer);
    writer->was_read = false;
}

/* ---- the program of an id ---- */

/* Reads the file if it is not known yet, and was not found to be unusable. Requires the lock. */
static ingot_status_t learn_once(struct ingot_recipe_writer *writer)
{
    if (writer->scan.offset != 0 || writer->was_read)
        return INGOT_SUCCESS;
    const ingot_status_t status = learn_file(writer);
    writer->was_read = status == INGOT_SUCCESS || is_lasting(writer, status, 0);
    note_failure(writer, status, 0);
    return status;
}

/* Finds the program of an id in the open file, which may be a new one. Requires both locks. */
static ingot_status_t find_program(const struct ingot_recipe_writer *writer, const uint8_t *id_key,
                                   uint8_t *program_key)
{
    size_t offset = 0;
    if (!key_map_find(&writer->known[RECIPE_RECORD_ID], id_key, &offset))
        return INGOT_NOT_FOUND;
    const ingot_status_t status = recipe_read_id(&writer->scan, offset, id_key, &writer->allocator, program_key);
    return status == INGOT_SUCCESS && !is_known(writer, RECIPE_RECORD_PROGRAM, program_key) ? INGOT_NOT_FOUND : status;
}

ingot_status_t writer_find_program(ingot_recipe_writer_t writer, const uint8_t *id_key, uint8_t *program_key)
{
    lock(writer);
    forget_if_gone(writer);
    ingot_status_t status = learn_once(writer);
    if (status == INGOT_SUCCESS && !is_known(writer, RECIPE_RECORD_ID, id_key))
        status = INGOT_NOT_FOUND;
    if (status == INGOT_SUCCESS)
        status = open_to_read(writer);
    if (status == INGOT_SUCCESS) {
        status = find_program(writer, id_key, program_key);
        close_file(writer);
    }
    process_lock_give(&writer->lock);
    return status;
}

bool writer_knows(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key)
{
    lock(writer);
    const bool is_there = is_known(writer, (uint32_t)kind, key);
    process_lock_give(&writer->lock);
    return is_there;
}

ingot_status_t writer_look_up(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key,
                              bool *is_there)
{
    ingot_status_t status = INGOT_SUCCESS;
    lock(writer);
    forget_if_gone(writer);
    if (writer->is_kept)
        status = learn_once(writer);
    *is_there = is_known(writer, (uint32_t)kind, key);
    if (*is_there)
        status = INGOT_SUCCESS;
    else if (status != INGOT_BUSY) /* if busy, returns that, because an addition would only wait for the lock again */
        status = recipe_failure_check(&writer->failure, writer->path);
    process_lock_give(&writer->lock);
    return status;
}

/* If memory runs out, the key is not remembered, so later requests look for it in the file again. */
void writer_remember(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key)
{
    lock(writer);
    if (!is_known(writer, (uint32_t)kind, key)) /* another thread may have been faster */
        (void)key_map_add(&writer->known[kind], key, 0);
    process_lock_give(&writer->lock);
}

/* ---- appending ---- */

/* Marks the records that the file does not have. Returns their number, and sets *bytes to their encoded size. Requires
 * the lock. */
static size_t mark_needed(const struct ingot_recipe_writer *writer, size_t count, struct recipe_item *items,
                          uint64_t *bytes)
{
    size_t needed = 0;
    *bytes = 0;
    for (size_t i = 0; i < count; ++i) {
        items[i].is_needed = !items[i].is_repeated && !is_known(writer, (uint32_t)items[i].kind, items[i].key);
        needed += items[i].is_needed;
        *bytes += items[i].is_needed ? items[i].encoded.size : 0;
    }
    return needed;
}

/* Fails if the names of kernels exceed their own limit. Programs can still be added, because that limit does not apply
 * to them. */
static ingot_status_t check_kernels(const struct ingot_recipe_writer *writer, size_t count,
                                    const struct recipe_item *items)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
        bytes += items[i].is_needed ? recipe_kernel_bytes((uint32_t)items[i].kind, items[i].size) : 0;
    if (bytes == 0 || writer->scan.kernel_bytes + bytes <= RECIPE_MAX_KERNELS)
        return INGOT_SUCCESS;
    return ingot_set_error_detail(INGOT_NO_SPACE, "the names of the kernels of %s would have more than 16 MiB",
                                  writer->path);
}

static ingot_status_t check_room(const struct ingot_recipe_writer *writer, size_t count,
                                 const struct recipe_item *items, size_t needed, uint64_t bytes)
{
    const uint64_t size = writer->scan.offset + bytes;
    uint64_t program_bytes = writer->scan.program_bytes;
    for (size_t i = 0; i < count; ++i)
        program_bytes += items[i].is_needed && items[i].kind == RECIPE_RECORD_PROGRAM ? items[i].size : 0;
    if (program_bytes > RECIPE_MAX_PROGRAMS)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the programs of %s would have more than 256 MiB without texts",
                                      writer->path);
    if (size > writer->max_bytes || needed > RECIPE_MAX_RECORDS - writer->scan.count)
        return ingot_set_error_detail(INGOT_NO_SPACE, "%s would have %llu bytes, and its limit is %llu", writer->path,
                                      (unsigned long long)size, (unsigned long long)writer->max_bytes);
    return files_may_grow_to(size) ? INGOT_SUCCESS : files_write_failed(-EFBIG, "writing", writer->path);
}

/* Writes the needed records. If a record could not be written completely, removes it, but not the earlier ones.
 * Requires both locks. */
static ingot_status_t write_items(struct ingot_recipe_writer *writer, size_t count, const struct recipe_item *items)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        const struct recipe_item *item = &items[i];
        if (!item->is_needed)
            continue;
        const int result =
            files_write_at(writer->file.fd, writer->scan.offset, item->encoded.size, item->encoded.bytes);
        if (result < 0) {
            (void)files_truncate(writer->file.fd, writer->scan.offset);
            return files_write_failed(result, "writing", writer->path);
        }
        const uint64_t offset = writer->scan.offset;
        writer->scan.offset += item->encoded.size;
        ++writer->scan.count;
        writer->scan.program_bytes += item->kind == RECIPE_RECORD_PROGRAM ? item->size : 0;
        writer->scan.kernel_bytes += recipe_kernel_bytes((uint32_t)item->kind, item->size);
        writer->mark.last = offset;
        memcpy(writer->mark.header, item->encoded.bytes, sizeof(writer->mark.header));
        status = learn(writer, (uint32_t)item->kind, item->key, offset);
    }
    return status;
}

/* Appends the encoded records. Records that the file already had are not encoded. If the file was replaced by one that
 * does not have these, appends nothing and sets *is_replaced, so that the caller encodes them and tries again. Requires
 * the lock. */
static ingot_status_t append(struct ingot_recipe_writer *writer, size_t count, struct recipe_item *items,
                             bool *is_replaced)
{
    uint64_t bytes = 0;
    ingot_status_t status = open_file(writer);
    if (status != INGOT_SUCCESS) {
        note_failure(writer, status, 0);
        return status;
    }
    const size_t needed = mark_needed(writer, count, items, &bytes);
    *is_replaced = !recipe_items_are_encoded(count, items);
    if (*is_replaced)
        status = ingot_set_error_detail(INGOT_BUSY, "%s was replaced during an addition", writer->path);
    /* kept apart from `status`, so that it is not noted as a failure: there may still be room for programs */
    const ingot_status_t of_kernels = status == INGOT_SUCCESS ? check_kernels(writer, count, items) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS && of_kernels == INGOT_SUCCESS)
        status = check_room(writer, count, items, needed, bytes);
    if (status == INGOT_SUCCESS && of_kernels == INGOT_SUCCESS)
        status = write_items(writer, count, items);
    close_file(writer);
    note_failure(writer, status, bytes);
    return of_kernels != INGOT_SUCCESS ? of_kernels : status;
}

/* Encodes and appends the records that the file does not have. */
static ingot_status_t append_needed(struct ingot_recipe_writer *writer, size_t count, struct recipe_item *items,
                                    bool *is_replaced)
{
    uint64_t bytes = 0;
    *is_replaced = false;
    lock(writer);
    const size_t needed = mark_needed(writer, count, items, &bytes);
    process_lock_give(&writer->lock);
    if (needed == 0)
        return INGOT_SUCCESS;
    ingot_status_t status = recipe_items_encode(count, items, writer->path);
    if (status != INGOT_SUCCESS)
        return status;
    lock(writer);
    status = append(writer, count, items, is_replaced);
    process_lock_give(&writer->lock);
    return status;
}

ingot_status_t writer_append(ingot_recipe_writer_t writer, size_t count, struct recipe_item *items)
{
    bool is_replaced = false;
    ingot_status_t status = recipe_items_init(count, items, &writer->allocator);
    if (status == INGOT_SUCCESS)
        status = append_needed(writer, count, items, &is_replaced);
    if (is_replaced)
        status = append_needed(writer, count, items, &is_replaced);
    recipe_items_fini(count, items);
    return status;
}

const ingot_allocator_t *writer_allocator(ingot_recipe_writer_t writer)
{
    return &writer->allocator;
}

bool writer_tell(ingot_recipe_writer_t writer, ingot_status_t status, const char *name, const char *reason)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    const unsigned bit = 1u << ((unsigned)status % 32u);
    const unsigned before = atomic_fetch_or_explicit(&writer->told, bit, memory_order_relaxed);
    if ((before & bit) != 0)
        return false;
    event.kind = INGOT_EVENT_STORAGE_DEGRADED;
    event.status = status;
    event.name = name;
    event.reason = reason;
    if (writer->on_event != NULL)
        writer->on_event(&event, writer->on_event_user);
    return true;
}

/* ---- the object ---- */

static void destroy(struct ingot_recipe_writer *writer)
{
    const ingot_allocator_t allocator = writer->allocator;
    forget_file(writer);
    process_lock_fini(&writer->lock);
    memory_free(&allocator, writer->path, writer->path_size);
    memory_free(&allocator, writer, sizeof(*writer));
}

static ingot_status_t make(struct ingot_recipe_writer **writer, const ingot_recipe_record_info_t *info)
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
                                         .on_event_user = info->on_event_user,
                                         .file = KEPT_FILE_INIT};
    atomic_init(&made->references, 1);
    atomic_init(&made->told, 0);
    forget(made);
    ingot_status_t status = process_lock_init(&made->lock);
    if (status != INGOT_SUCCESS) {
        memory_free(&allocator, made, sizeof(*made));
        return status;
    }
    status = recipe_file_absolute(info->path, &made->allocator, &made->path, &made->path_size);
    if (status != INGOT_SUCCESS) {
        destroy(made);
        return status;
    }
    *writer = made;
    return INGOT_SUCCESS;
}

/* When a new writer opens its file for the first time. */
enum opening { OPEN_NOW, OPEN_NOW_UNLESS_BUSY, OPEN_WHEN_NEEDED };

static ingot_status_t try_file(struct ingot_recipe_writer *writer)
{
    lock(writer);
    const ingot_status_t status = open_file(writer);
    if (status == INGOT_SUCCESS)
        close_file(writer);
    process_lock_give(&writer->lock);
    return status;
}

static ingot_status_t open_writer(ingot_recipe_writer_t *writer, const ingot_recipe_record_info_t *info,
                                  enum opening opening)
{
    ingot_recipe_record_info_t known;
    struct ingot_recipe_writer *made = NULL;
    if (writer == NULL || !STRUCT_READ(known, info) || known.path == NULL || known.path[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "writer, info, its struct_size or its path is missing");
    if (known.max_bytes > RECIPE_MAX_FILE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's max_bytes is more than 1 GiB");
    ingot_status_t status = make(&made, &known);
    if (status != INGOT_SUCCESS)
        return status;
    made->is_kept = opening == OPEN_WHEN_NEEDED;
    if (opening != OPEN_WHEN_NEEDED)
        status = try_file(made);
    if (status != INGOT_SUCCESS && !(opening == OPEN_NOW_UNLESS_BUSY && status == INGOT_BUSY)) {
        destroy(made);
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
        destroy(writer);
}

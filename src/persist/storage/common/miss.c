/*
 * miss.c - says why a storage cannot answer a request, and whether it may be compiled; see miss.h.
 *
 * The reason is that of `ingot explain`: the fields in which the nearest entry differs. It is found by reading the ids
 * of a store's entries, so it is looked for only if the policy needs it. No other file of persist writes to standard
 * error.
 */
#include "persist/storage/common/miss.h"

#include <ingot/backend.h>
#include <ingot/describe.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "util/cancellation.h"
#include "util/write_signals.h"

enum {
    MOST_ENTRIES = 4096, /* how many entries are compared */
    SOURCE_WEIGHT = 1000,
    MOST_SHOWN = 160, /* bytes of a value */
    REASON_CAPACITY = 1024
};

/* The texts between the values in the answer of ingot_cache_blob_id_explain. They are not within a value, because a
 * quote in a value follows a backslash. */
#define FIELD "{\"field\": \""
#define EXPECTED "\", \"expected\": "
#define FOUND ", \"found\": "
#define END "}, {\""

struct nearest {
    ingot_storage_t storage;
    size_t id_size;
    const uint8_t *id;
    size_t compared;
    size_t distance; /* SIZE_MAX: nothing was compared */
    size_t capacity; /* of the text; 0: not allocated */
    char *text;      /* the differences of the current entry */
    char reason[REASON_CAPACITY];
};

ingot_persist_on_miss_t storage_on_miss(ingot_storage_t storage)
{
    uint64_t policy = atomic_load_explicit(&storage->settings[STORAGE_ON_MISS], memory_order_relaxed);
    for (size_t i = 0; i < storage->tier_count && policy == 0; ++i)
        policy = (uint64_t)storage_on_miss(storage->tiers[i]);
    return (ingot_persist_on_miss_t)policy;
}

void miss_print(const char *reason)
{
    char line[REASON_CAPACITY + 16]; /* cut if the reason is longer */
    const int length = snprintf(line, sizeof(line), "ingot: %.*s\n", REASON_CAPACITY, reason);
    const size_t size = length < 0 ? 0 : (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1;
    const int cancellation = cancellation_hold();
    const struct write_signals held = write_signals_hold();
    line[size > 0 ? size - 1 : 0] = '\n';
    if (write(STDERR_FILENO, line, size) < 0) {
        /* there is nobody to tell */
    }
    write_signals_allow(&held);
    cancellation_allow(cancellation);
}

/* Returns the length of a value's text up to `end`, or as much of it as is shown. */
static int shown(const char *text, const char *end)
{
    return end - text < MOST_SHOWN ? (int)(end - text) : MOST_SHOWN;
}

/* Adds up the weights of the differences. A source counts most, because another build of the same program explains a
 * miss better than another program with the same options. */
static size_t weigh(const char *text)
{
    size_t distance = 0;
    for (const char *at = strstr(text, FIELD); at != NULL; at = strstr(at, FIELD)) {
        at += strlen(FIELD);
        const bool is_source = strncmp(at, "source[", 7) == 0 || strncmp(at, "artifact\"", 9) == 0;
        distance += is_source ? SOURCE_WEIGHT : 1;
    }
    return distance;
}

/* Writes the first difference that counts least, and how many others there are. */
static void write_reason(struct nearest *nearest, const ingot_persist_entry_t *entry)
{
    size_t count = 0;
    const char *first = NULL;
    for (const char *at = strstr(nearest->text, FIELD); at != NULL; at = strstr(at, FIELD)) {
        at += strlen(FIELD);
        if (first == NULL || (strncmp(first, "source[", 7) == 0 && strncmp(at, "source[", 7) != 0))
            first = at;
        ++count;
    }
    const char *expected = first != NULL ? strstr(first, EXPECTED) : NULL;
    const char *found = expected != NULL ? strstr(expected, FOUND) : NULL;
    if (found == NULL)
        return;
    const char *end = strstr(found, END);
    end = end != NULL ? end : nearest->text + strlen(nearest->text) - 2;
    const char *wanted = expected + strlen(EXPECTED);
    const char *stored = found + strlen(FOUND);
    (void)snprintf(nearest->reason, sizeof(nearest->reason),
                   "miss: nearest is %s%s%llu/%lu: %.*s: wanted %.*s, stored %.*s", entry->name_space,
                   entry->name_space[0] != '\0' ? "/" : "", (unsigned long long)entry->bucket,
                   (unsigned long)entry->number, shown(first, expected), first, shown(wanted, found), wanted,
                   shown(stored, end), stored);
    const size_t size = strlen(nearest->reason);
    if (count > 1)
        (void)snprintf(nearest->reason + size, sizeof(nearest->reason) - size, ", and %zu other fields", count - 1);
}

static ingot_status_t compare_entry(const ingot_persist_entry_t *entry, void *user)
{
    struct nearest *nearest = user;
    size_t size = nearest->capacity;
    if (entry->id == NULL || nearest->compared++ >= MOST_ENTRIES)
        return nearest->compared < MOST_ENTRIES ? INGOT_SUCCESS : INGOT_BUSY;
    ingot_status_t status =
        ingot_cache_blob_id_explain(nearest->id_size, nearest->id, entry->id_size, entry->id, &size, nearest->text);
    if (status == INGOT_BUFFER_TOO_SMALL || (status == INGOT_SUCCESS && nearest->text == NULL)) {
        memory_free(&nearest->storage->allocator, nearest->text, nearest->capacity);
        nearest->capacity = size;
        nearest->text = memory_allocate(&nearest->storage->allocator, size);
        if (nearest->text == NULL)
            nearest->capacity = 0;
        status = nearest->text != NULL ? ingot_cache_blob_id_explain(nearest->id_size, nearest->id, entry->id_size,
                                                                     entry->id, &size, nearest->text)
                                       : INGOT_OUT_OF_MEMORY;
    }
    const size_t distance = status == INGOT_SUCCESS ? weigh(nearest->text) : SIZE_MAX;
    if (distance != 0 && distance < nearest->distance) {
        nearest->distance = distance;
        write_reason(nearest, entry);
    }
    return INGOT_SUCCESS;
}

/* Compares an id with those of a storage, or of a chain's tiers. A server's entries cannot be listed. */
static void compare_all(struct nearest *nearest, ingot_storage_t storage)
{
    if (storage->tier_count == 0)
        (void)ingot_persist_for_each(storage, compare_entry, nearest);
    for (size_t i = 0; i < storage->tier_count; ++i)
        compare_all(nearest, storage->tiers[i]);
}

/* Writes what was requested: an artifact's fields, or which source, as `ingot ls` shows it. */
static void name_id(size_t id_size, const uint8_t *id, size_t capacity, char *name)
{
    static const char digest[] = ".blake2b\": \"";
    char text[2048];
    size_t size = sizeof(text);
    name[0] = '\0';
    if (ingot_cache_blob_id_describe(id_size, id, &size, text) != INGOT_SUCCESS)
        return;
    const char *source = strstr(text, "\"source[");
    const char *hash = source != NULL ? strstr(source, digest) : NULL;
    if (hash != NULL)
        (void)snprintf(name, capacity, "; wanted: the program with source %.12s", hash + strlen(digest));
    else
        (void)snprintf(name, capacity, "; wanted: %.*s", MOST_SHOWN, text);
}

/* Writes the reason, as far as one was found, and what was requested. */
static void explain(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t capacity, char *reason)
{
    struct nearest nearest = {.storage = storage, .id_size = id_size, .id = id, .distance = SIZE_MAX};
    char name[256];
    (void)snprintf(nearest.reason, sizeof(nearest.reason), "miss: no entry to compare with");
    compare_all(&nearest, storage);
    memory_free(&storage->allocator, nearest.text, nearest.capacity);
    name_id(id_size, id, sizeof(name), name);
    (void)snprintf(reason, capacity, "%.*s%s", (int)(capacity - sizeof(name)), nearest.reason, name);
}

ingot_status_t storage_judge_miss(ingot_storage_t storage, const struct ingot_context *context, size_t id_size,
                                  const uint8_t *id)
{
    char reason[REASON_CAPACITY];
    struct kept_error kept;
    const uint64_t started_ns = files_steady_clock_ns();
    const ingot_persist_on_miss_t policy = storage_on_miss(storage);
    if (policy == INGOT_PERSIST_ON_MISS_COMPILE)
        return INGOT_SUCCESS;
    kept_error_save(&kept);
    if (context != NULL && !storage_serves(storage, context))
        (void)snprintf(reason, sizeof(reason), "miss: the storage does not serve programs of this backend");
    else if (id != NULL)
        explain(storage, id_size, id, sizeof(reason), reason);
    else
        (void)snprintf(reason, sizeof(reason), "miss: it has no id: %.900s", kept.text);
    if (context != NULL)
        events_tell_context(context, INGOT_EVENT_STORAGE_MISS, INGOT_NOT_FOUND, 0, started_ns, reason);
    else
        events_tell(storage->on_event, storage->on_event_user, INGOT_EVENT_STORAGE_MISS, INGOT_NOT_FOUND, 0, started_ns,
                    "", reason);
    if (policy == INGOT_PERSIST_ON_MISS_FAIL)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s", reason);
    miss_print(reason);
    kept_error_restore(&kept);
    return INGOT_SUCCESS;
}

/*
 * miss.c - says why a storage cannot answer a request, and whether it may be compiled; see storage.h.
 *
 * The reason is that of `ingot explain`: the fields in which the nearest entry differs. It is found by reading the ids
 * of a store's entries, so it is looked for only if the policy needs it. No other file of persist writes to standard
 * error.
 */
#include "persist/storage/storage.h"

#include <ingot/backend.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/directory.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "persist/base/base.h"
#include "persist/storage/state.h"
#include "util/entry_kind.h"
#include "util/hex.h"
#include "util/write_signals.h"

enum {
    MOST_ENTRIES = 4096, /* how many entries are compared */
    SOURCE_WEIGHT = 1000,
    MOST_SHOWN = 160,  /* bytes of a value */
    SHOWN_DIGITS = 12, /* of a digest */
    REASON_CAPACITY = 1024
};

/* How an entry's id differs from that of the request. */
struct difference {
    size_t distance; /* the weights of all fields that differ */
    size_t field_count;
    char text[REASON_CAPACITY / 2]; /* the first field that counts least, and its values */
};

struct nearest {
    size_t id_size;
    const uint8_t *id;
    size_t compared;
    size_t distance; /* SIZE_MAX: nothing was compared */
    char reason[REASON_CAPACITY];
};

ingot_persist_on_miss_t storage_on_miss(ingot_storage_t storage)
{
    uint32_t policy = storage->on_miss;
    for (size_t i = 0; i < storage->tier_count && policy == 0; ++i)
        policy = (uint32_t)storage_on_miss(storage->tiers[i]);
    return (ingot_persist_on_miss_t)policy;
}

void miss_print(const char *reason)
{
    char line[REASON_CAPACITY + 16]; /* cut if the reason is longer */
    const int length = snprintf(line, sizeof(line), "ingot: %.*s\n", REASON_CAPACITY, reason);
    const size_t size = length < 0 ? 0 : (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1;
    const struct write_signals held = write_signals_hold();
    line[size > 0 ? size - 1 : 0] = '\n';
    if (write(STDERR_FILENO, line, size) < 0) {
        /* there is nobody to tell */
    }
    write_signals_allow(&held);
}

/* Adds a field that differs. A source, and the program that an artifact's key names, count most, because another build
 * of the same program explains a miss better than another program with the same options. */
static void add_difference(void *user, const char *path, const char *expected, const char *found)
{
    struct difference *difference = user;
    const bool is_source = strncmp(path, "\"source[", 8) == 0;
    const bool is_program = strcmp(path, "\"artifact\"") == 0 || strcmp(path, "\"key.program\"") == 0;
    difference->distance += is_source || is_program ? SOURCE_WEIGHT : 1;
    if (difference->field_count++ == 0 || (!is_source && strncmp(difference->text, "source[", 7) == 0))
        (void)snprintf(difference->text, sizeof(difference->text), "%.*s: wanted %.*s, stored %.*s",
                       (int)strnlen(path, MOST_SHOWN) - 2, path + 1, MOST_SHOWN, expected, MOST_SHOWN, found);
}

static ingot_status_t compare_entry_with_missed(const ingot_persist_entry_t *entry, void *user)
{
    struct nearest *nearest = user;
    struct difference difference = {.distance = 0};
    char others[48] = "";
    if (entry->id == NULL || entry_kind_of(entry->id_size, entry->id) != entry_kind_of(nearest->id_size, nearest->id))
        return INGOT_SUCCESS;
    if (nearest->compared++ >= MOST_ENTRIES)
        return INGOT_BUSY;
    if (ingot_cache_blob_id_compare(nearest->id_size, nearest->id, entry->id_size, entry->id, add_difference,
                                    &difference) != INGOT_SUCCESS ||
        difference.distance == 0 || difference.distance >= nearest->distance)
        return INGOT_SUCCESS;
    nearest->distance = difference.distance;
    if (difference.field_count > 1)
        (void)snprintf(others, sizeof(others), ", and %zu other fields", difference.field_count - 1);
    (void)snprintf(nearest->reason, sizeof(nearest->reason), "miss: nearest is %s%s%s: %s%s", entry->name_space,
                   entry->name_space[0] != '\0' ? "/" : "", entry->place, difference.text, others);
    return INGOT_SUCCESS;
}

/* Compares an id with those of a storage, or of a chain's tiers. A server's entries cannot be listed. If nothing could
 * be compared because the storage cannot be read, that is the reason. */
static void compare_all(struct nearest *nearest, ingot_storage_t storage)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (storage->tier_count == 0)
        status = ingot_persist_for_each(storage, compare_entry_with_missed, nearest);
    if (status != INGOT_SUCCESS && status != INGOT_BUSY && status != INGOT_UNIMPLEMENTED && nearest->compared == 0)
        (void)snprintf(nearest->reason, sizeof(nearest->reason), "miss: %.900s", ingot_last_error_detail());
    for (size_t i = 0; i < storage->tier_count; ++i)
        compare_all(nearest, storage->tiers[i]);
}

/* Writes the first digits of the digest of an id's first source. */
static void take_source(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    char *digits = user;
    (void)is_text;
    if (strcmp(path, "source[0].blake2b") == 0 && size >= SHOWN_DIGITS / 2)
        hex_put(digits, SHOWN_DIGITS / 2, value);
}

/* Looks for the id in other namespaces of a storage, or of a chain's tiers. Applications look only in their own. */
static bool find_in_other_name_space(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                     char name[STORAGE_NAME_SPACE_CAPACITY])
{
    bool is_found = storage->kind == STORAGE_DIRECTORY && storage_is_on(storage) &&
                    directory_find_elsewhere(storage->self, id_size, id, name);
    for (size_t i = 0; i < storage->tier_count && !is_found; ++i)
        is_found = find_in_other_name_space(storage->tiers[i], id_size, id, name);
    return is_found;
}

/* Writes the reason, as far as one was found, and what was requested. */
static void explain_miss(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t capacity, char *reason)
{
    struct nearest nearest = {.id_size = id_size, .id = id, .distance = SIZE_MAX};
    char name[256];
    (void)snprintf(nearest.reason, sizeof(nearest.reason), "miss: no entry to compare with");
    char name_space[STORAGE_NAME_SPACE_CAPACITY];
    if (find_in_other_name_space(storage, id_size, id, name_space))
        (void)snprintf(nearest.reason, sizeof(nearest.reason), "miss: it is stored in another namespace, %s%s",
                       name_space, name_space[0] == '\0' ? "the one without a name" : "");
    else
        compare_all(&nearest, storage);
    /* What was requested: an artifact's fields, or which source, as `ingot ls` shows it. */
    char digits[SHOWN_DIGITS + 1] = "";
    char text[2048];
    size_t size = sizeof(text);
    name[0] = '\0';
    if (ingot_cache_blob_id_visit(id_size, id, take_source, digits) == INGOT_SUCCESS && digits[0] != '\0')
        (void)snprintf(name, sizeof(name), "; wanted: the program with source %s", digits);
    else if (ingot_cache_blob_id_describe(id_size, id, &size, text) == INGOT_SUCCESS)
        (void)snprintf(name, sizeof(name), "; wanted: %.*s", MOST_SHOWN, text);
    (void)snprintf(reason, capacity, "%.*s%s", (int)(capacity - sizeof(name)), nearest.reason, name);
}

ingot_status_t storage_judge_miss(ingot_storage_t storage, const struct ingot_context *context, size_t id_size,
                                  const uint8_t *id)
{
    char reason[REASON_CAPACITY];
    struct kept_error kept;
    const uint64_t started_ns = files_steady_clock_ns();
    const ingot_persist_on_miss_t policy = storage_on_miss(storage);
    if (policy == INGOT_PERSIST_ON_MISS_COMPILE || policy == INGOT_PERSIST_ON_MISS_LATER)
        return INGOT_SUCCESS;
    kept_error_save(&kept);
    if (!storage_is_on(storage)) {
        (void)storage_refuse(storage, INGOT_NOT_FOUND);
        (void)snprintf(reason, sizeof(reason), "miss: %.900s", ingot_last_error_detail());
    } else if (id != NULL) {
        explain_miss(storage, id_size, id, sizeof(reason), reason);
    } else {
        (void)snprintf(reason, sizeof(reason), "miss: it has no id: %.900s", kept.text);
    }
    if (context != NULL)
        events_tell_context(context, INGOT_EVENT_STORAGE_MISS, INGOT_NOT_FOUND, 0, started_ns, reason);
    else
        storage_tell(storage, INGOT_EVENT_STORAGE_MISS, INGOT_NOT_FOUND, 0, started_ns, "", reason);
    if (policy == INGOT_PERSIST_ON_MISS_FAIL)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s", reason);
    miss_print(reason);
    kept_error_restore(&kept);
    return INGOT_SUCCESS;
}

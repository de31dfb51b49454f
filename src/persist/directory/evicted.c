/*
 * evicted.c - remembers the last evictions in a file of the store, so that people learn whether a program was evicted
 * or never there; see evict.h. doc/store-format.md specifies the file.
 *
 * Nothing depends on the file, so there is no lock for it, and failures are ignored. Writers that meet lose records.
 */
#include <ingot/backend.h>
#include <ingot/private/persist.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/evict.h"
#include "util/little_endian.h"

/* The first slot has the number of the next record. */
enum { SLOT_SIZE = 16, RECORD_COUNT = 4095, HASH_SIZE = 8, PART = 256 };
#define FILE_SIZE ((uint64_t)SLOT_SIZE * (RECORD_COUNT + 1))

void evicted_note(const struct root *root, size_t count, const struct checksum *hashes)
{
    uint8_t slot[SLOT_SIZE] = {0};
    size_t got = 0;
    const int fd = files_size_limit() >= FILE_SIZE ? files_open_update(root->fd, PATHS_EVICTED) : -1;
    if (fd < 0)
        return;
    uint64_t next = files_read(fd, 0, sizeof(slot), slot, &got) == 0 ? le_get_u64(slot) % RECORD_COUNT : 0;
    for (size_t i = 0; i < count; ++i, next = (next + 1) % RECORD_COUNT) {
        memcpy(slot, hashes[i].bytes, HASH_SIZE);
        le_put_u64(slot + HASH_SIZE, files_wall_clock_ns());
        (void)files_write_at(fd, (next + 1) * SLOT_SIZE, sizeof(slot), slot);
    }
    le_put_u64(slot, next);
    le_put_u64(slot + HASH_SIZE, 0);
    (void)files_write_at(fd, 0, sizeof(slot), slot);
    (void)files_close(fd);
}

ingot_status_t ingot_persist_find_evicted(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t *time_ns)
{
    struct root root;
    uint8_t slots[PART * SLOT_SIZE];
    size_t got = sizeof(slots);
    *time_ns = 0;
    const ingot_status_t status = root_open_of(storage, false, &root);
    const struct checksum hash = checksum_of(id_size, id);
    const int fd = status == INGOT_SUCCESS ? files_open_read(root.fd, PATHS_EVICTED) : -1;
    for (uint64_t at = SLOT_SIZE; fd >= 0 && at < FILE_SIZE && got == sizeof(slots); at += got) {
        if (files_read(fd, at, sizeof(slots), slots, &got) != 0)
            break;
        for (size_t i = 0; i + SLOT_SIZE <= got; i += SLOT_SIZE) {
            const uint64_t evicted_ns = le_get_u64(slots + i + HASH_SIZE);
            if (memcmp(slots + i, hash.bytes, HASH_SIZE) == 0 && evicted_ns > *time_ns)
                *time_ns = evicted_ns;
        }
    }
    if (fd >= 0)
        (void)files_close(fd);
    root_close(&root);
    return status == INGOT_SUCCESS && *time_ns == 0
               ? ingot_set_error_detail(INGOT_NOT_FOUND, "the last evictions have no such entry")
               : status;
}

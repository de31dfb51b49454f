/*
 * costs_file.c - reads and writes costs.bin; see costs_file.h and doc/store-format.md.
 *
 * Each id has one place in the file, which another id may overwrite. What is lost only makes a process try again. One
 * read or write transfers a whole record, and its checksum detects mixed ones, so the file needs no lock.
 */
#include "persist/directory/costs_file.h"

#include <string.h>

#include "persist/base/checksum.h"
#include "persist/base/files.h"
#include "persist/directory/layout/account.h"
#include "persist/directory/layout/state.h"
#include "util/little_endian.h"

#define NAME "costs.bin"
#define RECORD_SIZE ((size_t)32)
#define RECORD_COUNT 4096u
#define TIME_AT CHECKSUM_SIZE
#define CHECK_AT (TIME_AT + 8)

/* Writes the record of an id, and returns its place in the file. */
static uint64_t make_record(size_t id_size, const uint8_t *id, uint64_t known_ns, uint8_t record[RECORD_SIZE])
{
    const struct checksum sum = checksum_of(id_size, id);
    memcpy(record, sum.bytes, CHECKSUM_SIZE);
    le_put_u64(record + TIME_AT, known_ns);
    le_put_u64(record + CHECK_AT, checksum_bucket_of(CHECK_AT, record));
    return le_get_u64(sum.bytes) % RECORD_COUNT * RECORD_SIZE;
}

static bool is_costs_file_trusted(const struct directory *directory, int fd)
{
    struct file_facts facts;
    return files_facts(fd, &facts) == 0 && facts.is_file && files_are_private(&facts, directory->owner);
}

uint64_t costs_file_get_ns(void *self, size_t id_size, const uint8_t *id)
{
    const struct directory *directory = self;
    char path[PATH_CAPACITY];
    uint8_t record[RECORD_SIZE];
    uint8_t expected[RECORD_SIZE];
    size_t size = 0;
    uint64_t known_ns = 0;
    account_path(path, directory->name_space, NAME);
    const int fd = files_open_read(directory->root.fd, path);
    if (fd < 0)
        return 0;
    const uint64_t place = make_record(id_size, id, 0, expected);
    if (is_costs_file_trusted(directory, fd) && files_read(fd, place, sizeof(record), record, &size) == 0 &&
        size == sizeof(record)) {
        known_ns = le_get_u64(record + TIME_AT);
        (void)make_record(id_size, id, known_ns, expected);
    }
    (void)files_close(fd);
    return size == sizeof(record) && memcmp(record, expected, sizeof(record)) == 0 ? known_ns : 0;
}

void costs_file_set_ns(void *self, size_t id_size, const uint8_t *id, uint64_t cost_ns)
{
    const struct directory *directory = self;
    char path[PATH_CAPACITY];
    uint8_t record[RECORD_SIZE];
    const uint64_t place = make_record(id_size, id, cost_ns, record);
    account_path(path, directory->name_space, NAME);
    if (directory->name_space[0] != '\0') /* a namespace gets its directory with its first blob, or here */
        (void)files_make_directory(directory->root.fd, directory->name_space);
    const int fd = files_open_update(directory->root.fd, path);
    if (fd < 0)
        return;
    if (is_costs_file_trusted(directory, fd) && files_may_grow_to(place + RECORD_SIZE))
        (void)files_write_at(fd, place, sizeof(record), record);
    (void)files_close(fd);
}

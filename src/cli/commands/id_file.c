/*
 * id_file.c - reads ids from files; see id_file.h.
 */
#include "cli/commands/id_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/base.h"
#include "util/key_bin.h"
#include "util/little_endian.h"

enum { ID_SIZE_LIMIT = 1 << 26 };

bool id_file_is(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

int id_file_read(struct entry *entry, const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)fprintf(stderr, "ingot: %s cannot be read: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    for (int c = getc(file); c != EOF && size <= (size_t)ID_SIZE_LIMIT + KEY_BIN_AT_ID; c = getc(file)) {
        bytes = memory_grow(bytes, size, 1);
        bytes[size++] = (uint8_t)c;
    }
    const int error = ferror(file) != 0 ? errno : 0;
    const bool has_header = size > KEY_BIN_AT_ID && memcmp(bytes, KEY_BIN_MAGIC, sizeof(KEY_BIN_MAGIC) - 1) == 0;
    const size_t header_size = has_header ? KEY_BIN_AT_ID : 0;
    /* According to the header of a key.bin. In a single file, the blob follows the id. */
    const uint64_t named_size = has_header ? le_get_u64(bytes + KEY_BIN_AT_ID_SIZE) : size;
    const size_t id_size = named_size < size - header_size ? (size_t)named_size : size - header_size;
    const ingot_persist_entry_t facts = {.name_space = "",
                                         .reason = size == 0 ? "the file is empty" : "",
                                         .bytes = size,
                                         .blob_size = size - header_size - id_size,
                                         .id_size = id_size,
                                         .id = size != 0 ? bytes + header_size : NULL};
    entry_copy(entry, &facts);
    free(bytes);
    (void)fclose(file);
    if (error != 0)
        (void)fprintf(stderr, "ingot: reading %s failed: %s\n", path, strerror(error));
    return error == 0 ? EXIT_DONE : EXIT_FAILED;
}

ingot_status_t id_file_load(const char *path, const struct entry *entry, ingot_buffer_t *blob)
{
    ingot_storage_t file = NULL;
    ingot_status_t status = ingot_persist_open_file(&file, path, NULL);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_load(file, entry->facts.id_size, entry->facts.id, blob);
    ingot_storage_release(file);
    return status;
}

/*
 * entry.h - reads, verifies and writes one entry, which is a directory with the files key.bin and kernel.bin; encodes
 * and decodes the header of key.bin (doc/store-format.md).
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_ENTRY_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_ENTRY_H

#include <ingot/ingot.h>
#include <ingot/storage.h>
#include <stdbool.h>

#include "persist/base/base.h"
#include "util/key_bin.h"

#define KEY_FILE_HEADER_SIZE ((size_t)KEY_BIN_AT_ID)
#define KEY_FILE_MAX_ID_SIZE ((uint64_t)1 << 26)
#define KEY_FILE_MAX_BLOB_SIZE UINT32_MAX
#define KEY_FILE_MAX_SIZE (KEY_FILE_HEADER_SIZE + KEY_FILE_MAX_ID_SIZE)

struct key_file {
    uint64_t id_size_bytes;
    uint64_t blob_size_bytes;
    struct checksum id_checksum;
    struct checksum blob_checksum;
    uint64_t created_ns;
    uint32_t flags;
};

/* Returns the header for an id and a blob that are stored at the time now_ns. */
struct key_file key_file_of(size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob, uint64_t now_ns);

/* Encodes the header of a key.bin. */
void key_file_encode(const struct key_file *key, uint8_t header[KEY_FILE_HEADER_SIZE]);

/*
 * Verifies the header of a key.bin of file_size bytes; `header` has the first header_size bytes of the file, which must
 * be the whole header unless the file is shorter. Does not verify the id. Returns INGOT_BLOB_TRUNCATED,
 * INGOT_BLOB_CORRUPT or INGOT_BLOB_VERSION, with an error detail, on failure.
 */
ingot_status_t key_file_decode(struct key_file *key, uint64_t file_size, size_t header_size, const uint8_t *header);

/* Does the same for a single file (doc/bundle-format.md): a key.bin that ends where the blob begins. */
ingot_status_t key_file_decode_single(struct key_file *key, uint64_t file_size, size_t header_size,
                                      const uint8_t *header);

/* ---- entries ---- */

/* What the size of a file is rounded up to in the account, until its blocks are counted. */
#define ENTRY_PAGE_SIZE UINT64_C(4096)

/* Where an entry is, and which user must own all of it. */
struct entry_place {
    int at;
    const char *path; /* the entry's directory, below `at`; leaves room in PATH_CAPACITY for the files' names */
    uint32_t owner;
};

/*
 * Checks the entry's directory. Sets *facts to those of whatever has the entry's name. Returns INGOT_NOT_FOUND if
 * nothing has the name, INGOT_UNTRUSTED if another user owns it or may write to it, INGOT_UNTRUSTED for anything but a
 * directory or a file, INGOT_BLOB_CORRUPT for a file, or INGOT_IO_ERROR.
 */
ingot_status_t entry_examine(const struct entry_place *place, struct file_facts *facts);

/*
 * Opens the entry's directory. Sets *pinned to the same entry below the new handle pinned->at, which the caller closes.
 * While the handle is open, both files are read from this entry, and no other entry gets its inode. On failure, returns
 * INGOT_NOT_FOUND, INGOT_UNTRUSTED (the entry is not a directory), or INGOT_IO_ERROR.
 */
ingot_status_t entry_pin(const struct entry_place *place, struct entry_place *pinned);

/*
 * Verifies the entry, and copies out its header, its id unless `copy` is NULL, and its blob. If `blob` is NULL, reads
 * and verifies key.bin only; otherwise also sets *time_ns to the time of the entry, at which kernel.bin was last
 * modified. Even on failure, sets *key and *copy if these are valid. Returns INGOT_BLOB_MISMATCH if `id` is not NULL
 * and what was read is valid but belongs to another id, INGOT_BLOB_TRUNCATED or INGOT_BLOB_CORRUPT if the entry is
 * damaged, INGOT_BLOB_VERSION if it has another format, INGOT_UNTRUSTED, INGOT_IO_ERROR or INGOT_OUT_OF_MEMORY.
 */
ingot_status_t entry_read(const struct entry_place *place, size_t id_size, const uint8_t *id,
                          const ingot_allocator_t *allocator, struct key_file *key, ingot_buffer_t *copy,
                          ingot_buffer_t *blob, uint64_t *time_ns);

/*
 * Read parts of an open file, which error details call `name`. entry_read_key reads and verifies a header at the
 * beginning of the file and the id behind it, which have `size` bytes together. If `id` is not NULL and that is another
 * id, returns INGOT_BLOB_MISMATCH. If `copy` is not NULL, copies the id out. entry_read_blob reads and verifies the
 * blob at an offset of a file that `owner` must own. Both return the statuses of entry_read.
 */
ingot_status_t entry_read_key(int fd, const char *name, uint64_t size, struct key_file *key, size_t id_size,
                              const uint8_t *id, const ingot_allocator_t *allocator, ingot_buffer_t *copy);
ingot_status_t entry_read_blob(int fd, const char *name, uint64_t offset, const struct key_file *key, uint32_t owner,
                               const ingot_allocator_t *allocator, ingot_buffer_t *blob);

/* True if a status means that the entry is damaged and must be removed. */
bool entry_is_bad(ingot_status_t status);

/* Returns the bytes of the blocks that the file system has allocated for key.bin and kernel.bin. A missing file has
 * none. Sets *time_ns, unless it is NULL, to the time of the entry, or to 0 if kernel.bin is missing. */
uint64_t entry_bytes(int at, const char *entry_path, uint64_t *time_ns);
/* Returns the size of the two files of an entry whose id and blob have these sizes, each rounded up to
 * ENTRY_PAGE_SIZE. */
uint64_t entry_bytes_for(size_t id_size, size_t blob_size);

/* Writes both files into the directory entry_path, which is below `at`. */
ingot_status_t entry_write(int at, const char *entry_path, const struct key_file *key, const uint8_t *id,
                           const uint8_t *blob);

#endif

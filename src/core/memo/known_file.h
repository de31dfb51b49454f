/*
 * known_file.h - keeps a file's content, its digest and what a scan found in it, for all programs that include it.
 *
 * A struct known_file is immutable once it is shared.
 */
#ifndef INGOT_CORE_MEMO_KNOWN_FILE_H
#define INGOT_CORE_MEMO_KNOWN_FILE_H

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/os_file.h"
#include "core/memo/memo_table.h"
#include "util/memory.h"

struct known_file {
    struct memo_entry entry; /* the key consists of the state, `reading` and the reader's rights */
    struct os_file_state state;
    bool is_lasting; /* true if a file with this state certainly has this content */
    struct bytes_writer content;
    uint8_t digest[DIGEST_SIZE];
    struct arena arena; /* holds what `scan` points to */
    const void *scan;   /* the result of the scan; NULL before the scan */
};

/* The files that programs share. */
struct known_files {
    struct memo_table table;
    const ingot_allocator_t *allocator;
    /* a file that was read less than this long after its last change is not shared; see header_memo.h */
    uint64_t settle_ns;
};

/* True if any later change will show in the file's times. Times in whole seconds are not trusted, because they come
 * from file systems or images without a finer resolution. */
bool known_file_is_settled(const struct os_file_facts *facts, uint64_t settled_until_ns);

/* Reads a file. Returns the statuses of os_read_file. If the file last changed before settled_until_ns, any later
 * change shows in its state. `reading` identifies the rules by which the text is scanned. */
ingot_status_t known_file_read(struct known_file **file, const ingot_allocator_t *allocator, const char *path,
                               size_t max_size, uint64_t settled_until_ns, uint64_t reading);
/* Finds a shared file that has this state, was scanned by the same rules and was read with the same rights. Returns a
 * reference, or NULL. */
struct known_file *known_file_find(struct known_files *files, const struct os_file_state *state, uint64_t reading);
/* Shares a file after it was scanned. Does nothing if `files` is NULL. */
void known_file_share(struct known_files *files, struct known_file *file);
void known_file_release(struct known_file *file);

#endif

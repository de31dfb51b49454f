/*
 * witness.h - asks the file system all that resolving includes depends on, and can write down the answers.
 *
 * No other code of a resolution looks at the outside world. So the result is a function of the program and of these
 * answers, and a remembered result holds as long as asking again gives the same answers:
 * - a path leads to no file; or to a file with this device, inode, size, time of modification and time of change
 * - a path leads to no directory, or to this one
 * - the current directory has this path
 *
 * That a file with the same state has the same content is not certain in three cases, and then the answer is not
 * lasting and nothing is remembered: it changed so shortly before that another change may leave the time as it is
 * (header_memo.h); it changed while it was read; or its file system does not tell changes reliably (os_file.c). A
 * change sets the time of change to the present whatever the time of modification is set to, and no program can set it
 * back.
 */
#ifndef INGOT_CORE_MEMO_WITNESS_H
#define INGOT_CORE_MEMO_WITNESS_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/os_file.h"

enum {
    WITNESS_PATH_SIZE = 4096, /* of the current directory */
    WITNESS_BUCKETS = 32
};

struct asked_directory;
struct known_file; /* known_file.h */
struct known_files;

struct witness {
    struct known_files *files;   /* NULL: reads every file, and writes nothing down */
    struct bytes_writer answers; /* in the order of the questions; see doc/memo-format.md */
    bool is_lasting;             /* so far, all answers can be confirmed later */
    struct arena arena;
    struct asked_directory **directories; /* in buckets; each is asked for once */
};

void witness_init(struct witness *witness, const ingot_allocator_t *allocator);
void witness_fini(struct witness *witness);

/* Reads a file, or finds it among those that are known; a reference. Statuses as of os_read_file. */
ingot_status_t witness_read_file(struct witness *witness, const char *path, size_t max_size, uint64_t reading,
                                 struct known_file **file);
/* Shares a file that was scanned. */
void witness_share_file(struct witness *witness, struct known_file *file);
/* Returns false if there is no such directory, or if the arena failed. */
bool witness_identify_directory(struct witness *witness, const char *path, struct os_file_identity *identity);
/* Returns false if there is none, or not enough room. */
bool witness_get_current_directory(struct witness *witness, size_t size, char *path);

/* Asks all questions again; true if every answer is the same. */
bool witness_confirm(size_t size, const uint8_t *answers);
/* True if the bytes are answers in the right form. */
bool witness_check(size_t size, const uint8_t *answers);

#endif

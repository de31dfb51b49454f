/*
 * witness.h - asks the file system everything that resolving includes depends on, and can record the answers.
 *
 * Code that resolves includes looks at the outside world only through these functions. So the result is a function of
 * the program and of the answers, and a remembered result is valid as long as asking again gives the same answers. The
 * answers are:
 * - a path leads to no file, or to a file with a certain device, inode, size, time of modification and time of change;
 * - a path leads to no directory, or to one with a certain device and inode;
 * - the current directory has a certain path.
 *
 * In three cases, a file's content may change while its state stays the same. Then the answer is not lasting, and
 * nothing is remembered: the file changed so recently that another change may leave the time as it is (header_memo.h);
 * it changed while it was read; or its file system does not report changes reliably (os_file.c). Each change sets the
 * time of change to the present, even if a program sets the time of modification, and no program can set it back.
 */
#ifndef INGOT_CORE_MEMO_WITNESS_H
#define INGOT_CORE_MEMO_WITNESS_H

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/os_file.h"
#include "util/memory.h"

enum {
    WITNESS_PATH_SIZE = 4096, /* capacity for the path of the current directory */
    WITNESS_BUCKETS = 32
};

struct asked_directory;
struct known_file; /* defined in known_file.h */
struct known_files;

struct witness {
    struct known_files *files;   /* NULL if every file is read again and no answers are recorded */
    uint64_t reader;             /* who asks (os_reader), if answers are recorded */
    struct bytes_writer answers; /* in the order of the questions; see doc/probes-format.md */
    bool is_lasting;             /* true if all answers so far can be confirmed later */
    struct arena arena;
    struct asked_directory **directories; /* buckets of the directories in earlier questions, so that no question about
                                           * a directory is asked twice */
};

void witness_init(struct witness *witness, const ingot_allocator_t *allocator);
void witness_fini(struct witness *witness);

/* Reads a file, or finds it among the known files. Sets *file to a reference. Returns the statuses of os_read_file. */
ingot_status_t witness_read_file(struct witness *witness, const char *path, size_t max_size, uint64_t reading,
                                 struct known_file **file);
/* Hashes a file as os_hash_file does, and returns its statuses or INGOT_OUT_OF_MEMORY. For files that are too large to
 * be kept. */
ingot_status_t witness_hash_file(struct witness *witness, const char *path, struct hash128 *hash);
/* Gets the identity of a directory. Returns false if there is no such directory, or if the arena failed. */
bool witness_identify_directory(struct witness *witness, const char *path, struct os_file_identity *identity);
/* Writes the path of the current directory. Returns false if there is none or it does not fit. */
bool witness_get_current_directory(struct witness *witness, size_t size, char *path);

/* Asks for a file's state and appends the answer, for callers without a witness. If the file is there but has no state,
 * because it is not a regular file, the answer cannot be confirmed. */
void witness_put_file(struct bytes_writer *answers, const char *path);
/* True if every question, asked again, has the same answer. */
bool witness_confirm(size_t size, const uint8_t *answers);

/* Receives what a path led to ("no_file", "file", "no_directory", "directory" or "current_directory"), and the path. */
typedef void (*witness_visitor)(void *user, const char *what, const char *path);
/* Visits the answers, unless `visit` is NULL. Returns false if the bytes are not well-formed answers; those before the
 * malformed one are visited. */
bool witness_visit(size_t size, const uint8_t *answers, witness_visitor visit, void *user);

#endif

/*
 * header_memo.h - remembers, for a context, the content of included files and the results of resolving programs'
 * includes.
 *
 * The result of resolving a program's includes depends on the program and on what the file system answers (witness.h).
 * So it is remembered together with the questions and the answers. If all answers are still the same, so is the result.
 */
#ifndef INGOT_CORE_MEMO_HEADER_MEMO_H
#define INGOT_CORE_MEMO_HEADER_MEMO_H

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/memo/witness.h"

enum { MEMO_MAX_FILE_BYTES = 64 << 20, MEMO_MAX_RESOLUTION_BYTES = 8 << 20, MEMO_MAX_ONE_RESOLUTION = 1 << 20 };

/* A file is not relied on if it was read less than this long after its last change, for three reasons. Its next
 * change may get the same time. The write that set the time may not have been complete. Writes through a mapping
 * update the time only when the kernel writes the page back, after 30 to 35 seconds. */
#define MEMO_SETTLE_NS ((uint64_t)60000000000)

struct ingot_header_memo;

/* Creates a memo. settle_ns is MEMO_SETTLE_NS, except in tests. */
ingot_status_t header_memo_create(struct ingot_header_memo **memo, const ingot_allocator_t *allocator,
                                  uint64_t settle_ns);
void header_memo_retain(struct ingot_header_memo *memo);
void header_memo_release(struct ingot_header_memo *memo);
/* Returns how many resolutions this process has remembered, not counting those from header_memo_add. */
uint64_t header_memo_learned(const struct ingot_header_memo *memo);
/* Called when the memo's context ends. Drops the files, which only the context's programs need. */
void header_memo_retire(struct ingot_header_memo *memo);
bool header_memo_is_in_use(const struct ingot_header_memo *memo);
/* Returns the files that the memo keeps, for use by a witness (witness.h). */
struct known_files *header_memo_files(struct ingot_header_memo *memo);

/* Appends the result that is remembered under the key, if all answers are still the same; otherwise returns false.
 * The key identifies the program and everything else that the result depends on. */
bool header_memo_lookup(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], struct bytes_writer *result);
/* Remembers a result, unless one of the witness's answers cannot be confirmed later. */
void header_memo_learn(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], const struct witness *witness,
                       const struct bytes_writer *result);

/* Writes the resolutions for other processes, the most recently used first; see doc/memo-format.md. `library`
 * identifies the code that made them. Initializes *out, which the caller frees even after a failure. */
ingot_status_t header_memo_write(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE],
                                 struct bytes_writer *out);
/* Adds resolutions that header_memo_write wrote, as the least recently used ones, as far as there is room. Returns
 * INGOT_BLOB_STALE if another build of the library wrote them, or INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT or
 * INGOT_BLOB_VERSION. After these failures, none is added. */
ingot_status_t header_memo_add(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE], size_t size,
                               const uint8_t *bytes);

#endif

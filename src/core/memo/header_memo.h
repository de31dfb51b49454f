/*
 * header_memo.h - what a context remembers of included files: their texts, and what resolving a program's includes
 * gave.
 *
 * The result of resolving depends on the program and on what the file system answers (witness.h). A resolution is
 * remembered with those questions and answers. If all answers are still the same, so is the result.
 */
#ifndef INGOT_CORE_MEMO_HEADER_MEMO_H
#define INGOT_CORE_MEMO_HEADER_MEMO_H

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/memo/witness.h"

enum { MEMO_MAX_FILE_BYTES = 64 << 20, MEMO_MAX_RESOLUTION_BYTES = 8 << 20, MEMO_MAX_ONE_RESOLUTION = 1 << 20 };

/* A file that changed less than this before it was read is not relied on. Its next change may get the same time; a
 * write that set the time may not have been complete; and writes through a mapping set the time anew only when the
 * kernel has written the page back, which it does after 30 to 35 seconds. */
#define MEMO_SETTLE_NS ((uint64_t)60000000000)

struct ingot_header_memo;

/* Only tests give a settle_ns other than MEMO_SETTLE_NS. */
ingot_status_t header_memo_create(struct ingot_header_memo **memo, const ingot_allocator_t *allocator,
                                  uint64_t settle_ns);
void header_memo_retain(struct ingot_header_memo *memo);
void header_memo_release(struct ingot_header_memo *memo);
/* Returns how many resolutions this process has added to what it was given. */
uint64_t header_memo_learned(const struct ingot_header_memo *memo);
/* Ends its use by a context: drops the files, which only a context's programs need. */
void header_memo_retire(struct ingot_header_memo *memo);
bool header_memo_is_in_use(const struct ingot_header_memo *memo);
/* Returns the files for a witness. */
struct known_files *header_memo_files(struct ingot_header_memo *memo);

/* Appends the result that is remembered for a program, if all answers are the same. The key identifies everything else
 * on which the result depends. */
bool header_memo_recall(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], struct bytes_writer *result);
/* Remembers a result, if all that the witness was told can be confirmed later. */
void header_memo_learn(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], const struct witness *witness,
                       const struct bytes_writer *result);

/* Writes the resolutions, the last used first, for another process; see doc/memo-format.md. library identifies the
 * library by whose code they were made. Initializes out, which the caller releases, also after a failure. */
ingot_status_t header_memo_write(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE],
                                 struct bytes_writer *out);
/* Adds resolutions behind those that are known, as far as there is room. INGOT_BLOB_STALE: another library wrote them;
 * INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION. A failure adds none, except INGOT_OUT_OF_MEMORY. */
ingot_status_t header_memo_add(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE], size_t size,
                               const uint8_t *bytes);

#endif

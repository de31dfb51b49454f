/*
 * header_memo.h - remembers, for a context, the content of included files and the results of resolving programs'
 * includes.
 *
 * The result of resolving a program's includes depends on the program and on what the file system answers (witness.h).
 * So it is remembered together with the questions and the answers: its probes. If all answers are still the same, so is
 * the result. A keeper, such as a directory store, keeps the probes for later processes.
 */
#ifndef INGOT_CORE_MEMO_HEADER_MEMO_H
#define INGOT_CORE_MEMO_HEADER_MEMO_H

#include <ingot/private/header_memo.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/memo/witness.h"

enum { MEMO_MAX_FILE_BYTES = 64 << 20, MEMO_MAX_RESOLUTION_BYTES = 8 << 20 };

/* A file is not relied on if it was read less than this long after its last change, for three reasons. Its next
 * change may get the same time. The write that set the time may not have been complete. Writes through a mapping
 * update the time only when the kernel writes the page back, after 30 to 35 seconds. */
#define MEMO_SETTLE_NS ((uint64_t)60000000000)

/* Creates a memo. settle_ns is MEMO_SETTLE_NS, except in tests. */
ingot_status_t header_memo_create(struct ingot_header_memo **memo, const ingot_allocator_t *allocator,
                                  uint64_t settle_ns);
void header_memo_retain(struct ingot_header_memo *memo);
void header_memo_release(struct ingot_header_memo *memo); /* does nothing for NULL */

/* Does what ingot_header_memo_keep does. `library` identifies the code that resolves includes. */
ingot_status_t header_memo_keep(struct ingot_header_memo *memo, const uint8_t library[DIGEST_SIZE],
                                const ingot_probes_keeper_t *keeper, void *user);

/* Appends the result that is remembered or kept under the key, if all answers are still the same; otherwise returns
 * false. The key identifies the program and everything else that the result depends on, except for the user and the
 * groups. */
bool header_memo_lookup(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], struct bytes_writer *result);
/* Lets a new witness record answers, and share files through the memo. */
void header_memo_watch(struct ingot_header_memo *memo, struct witness *witness);
/* Remembers a result, and gives its probes to the keeper, unless one of the witness's answers cannot be confirmed
 * later, or the user or the groups have changed since the witness began. */
void header_memo_learn(struct ingot_header_memo *memo, const uint8_t key[DIGEST_SIZE], const struct witness *witness,
                       const struct bytes_writer *result);

#endif

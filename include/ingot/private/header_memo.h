/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/header_memo.h
 * The memo of headers, and who keeps its probes for later processes.
 */
#ifndef INGOT_PRIVATE_HEADER_MEMO_H
#define INGOT_PRIVATE_HEADER_MEMO_H

#include <ingot/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a context learned about the files that its programs include. With it, the context resolves a program's includes
 * without reading a file, as long as the file system gives the same answers (doc/hermetic-builds.md).
 */
typedef struct ingot_header_memo *ingot_header_memo_t;

/**
 * Keeps probes as entries of a store (doc/probes-format.md). Any thread may call these functions, which may call Ingot:
 * no lock is held. Who can write what they load decides which programs are found, so they load only from a place that
 * no other user can write.
 */
typedef struct ingot_probes_keeper {
    /** Loads the content of an entry. The memo checks and releases it. Every failure counts as a miss. */
    ingot_status_t (*load)(void *user, size_t id_size, const uint8_t *id, ingot_buffer_t *content);
    /** Stores an entry, and replaces the one that has the id. */
    void (*store)(void *user, size_t id_size, const uint8_t *id, size_t size, const uint8_t *content);
    /** Called once: when the memo ends, or at once if ingot_header_memo_keep fails or the memo has this keeper already.
     */
    void (*release)(void *user);
} ingot_probes_keeper_t;

/** Returns the context's memo, which is borrowed: valid while the context is held. Returns NULL if the memo is off
 *  (INGOT_CONTEXT_NO_HEADER_MEMO), or for NULL. */
INGOT_API ingot_header_memo_t ingot_context_get_header_memo(const_ingot_context_t context);

/**
 * From now on, the memo asks this keeper for what it does not know, and gives it what it learns, instead of an earlier
 * keeper.
 *
 * @param[in] keeper  Copied.
 * @retval INGOT_UNIMPLEMENTED  The library has no build-id, so another process could not recognize which build learned
 *                              something.
 * @retval INGOT_OUT_OF_MEMORY
 * @par Threads  Any number at once, as for all functions of a memo.
 */
INGOT_API ingot_status_t ingot_header_memo_keep(ingot_header_memo_t memo, const ingot_probes_keeper_t *keeper,
                                                void *user);

/** Returns the number of results that this process has learned, without those that a keeper had. 0 for NULL. */
INGOT_API uint64_t ingot_header_memo_count_learned(ingot_header_memo_t memo);

#ifdef __cplusplus
}
#endif

#endif

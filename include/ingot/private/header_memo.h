/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/header_memo.h
 * The memo of headers: passes on to another process what a context learned about the files that its programs include.
 */
#ifndef INGOT_PRIVATE_HEADER_MEMO_H
#define INGOT_PRIVATE_HEADER_MEMO_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a context learned about the files that its programs include. With it, the context resolves a program's includes
 * without reading a file, as long as the file system gives the same answers (doc/hermetic-builds.md). Another process
 * can continue with the memo's bytes; ingot_persist_remember_headers keeps them in a store.
 */
typedef struct ingot_header_memo *ingot_header_memo_t;

/** Returns the context's memo, which is borrowed: valid while the context is held. Returns NULL if the memo is off
 *  (INGOT_CONTEXT_NO_HEADER_MEMO), or for NULL. */
INGOT_API ingot_header_memo_t ingot_context_get_header_memo(const_ingot_context_t context);
/** Adds a reference. Does nothing for NULL. The memo may outlive its context, and then still uses the context's
 *  allocator. */
INGOT_API void ingot_header_memo_retain(ingot_header_memo_t memo);
/** Drops a reference. Does nothing for NULL. */
INGOT_API void ingot_header_memo_release(ingot_header_memo_t memo);

/**
 * Copies the memo to @p bytes, in the format of doc/memo-format.md; size protocol. It is at most 8 MiB long, plus a
 * header. Another thread may add to the memo between the size query and the copy, which then returns
 * INGOT_BUFFER_TOO_SMALL.
 * @retval INGOT_UNIMPLEMENTED  The library has no build-id, so another process could not recognize which build wrote
 * the memo.
 * @retval INGOT_BUFFER_TOO_SMALL, INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 * @par Threads  Any number at once, as for all functions of a memo.
 */
INGOT_API ingot_status_t ingot_header_memo_get_bytes(ingot_header_memo_t memo, size_t *size, uint8_t *bytes);
/**
 * Adds the content of another memo until the memo is full. Known entries are kept. Anyone who can write @p bytes
 * decides which programs are found, so take them only from a place that no other user can write.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION  Not a memo that this library can read.
 * @retval INGOT_BLOB_STALE     Another build of the library wrote it.
 * @retval INGOT_UNIMPLEMENTED  The library has no build-id. After any failure except INGOT_OUT_OF_MEMORY, the memo is
 *                              unchanged.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_header_memo_add_bytes(ingot_header_memo_t memo, size_t size, const uint8_t *bytes);
/** Returns the number of programs whose includes this process has learned, without those that
 *  ingot_header_memo_add_bytes added. 0 for NULL. */
INGOT_API uint64_t ingot_header_memo_count_learned(ingot_header_memo_t memo);
/** Returns nonzero while the memo's context exists. Afterwards, the memo learns nothing more. 0 for NULL. */
INGOT_API int ingot_header_memo_is_in_use(ingot_header_memo_t memo);

#ifdef __cplusplus
}
#endif

#endif

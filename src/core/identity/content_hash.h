/*
 * content_hash.h - hashes a file of a compiler: a library without a build-id, a device library, a header or a setting.
 *
 * Some compilers have hundreds of megabytes of such files, and each process that makes an id needs their hashes. So
 * they are hashed with XXH3, not BLAKE2b, and the memo remembers the hash of each file that is not small, with the
 * state of the file, by the rules for headers (header_memo.h). Like a build-id, the hash tells versions apart. It need
 * not resist forgery, because anyone who can forge these files can also replace the compiler.
 */
#ifndef INGOT_CORE_IDENTITY_CONTENT_HASH_H
#define INGOT_CORE_IDENTITY_CONTENT_HASH_H

#include <ingot/backend.h>

#include "core/memo/header_memo.h"

enum { CONTENT_HASH_TEXT = 33 };

/* Writes a file's hash as 32 hexadecimal digits, the high 64 bits first. Reads the file unless the memo, which may be
 * NULL, has its hash and the file is unchanged. Returns the statuses of os_hash_file or INGOT_OUT_OF_MEMORY. */
ingot_status_t content_hash_of(struct ingot_header_memo *memo, const ingot_allocator_t *allocator, const char *path,
                               char text[CONTENT_HASH_TEXT]);

#endif

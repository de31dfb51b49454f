/*
 * desc_memo.h - makes the key under which a context's header memo remembers a program's included files.
 */
#ifndef INGOT_CORE_DESCRIPTOR_DESC_MEMO_H
#define INGOT_CORE_DESCRIPTOR_DESC_MEMO_H

#include "core/descriptor/program_desc.h"

/* Computes a digest of everything that the result of resolving the includes depends on, except for the file system's
 * answers: the texts with their names, options and headers, the compiler's rules, and the user and groups. Returns
 * false if out of memory. */
bool desc_memo_key(const struct ingot_program_desc *desc, uint8_t key[DIGEST_SIZE]);

#endif

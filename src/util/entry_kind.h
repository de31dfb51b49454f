/*
 * entry_kind.h - tells what kind of entry an id stands for, from the magic with which the id begins.
 *
 * All kinds are entries of the same store. Results and artifacts may be copied to other places. Probes decide
 * which program is found, so they never leave the store in which they were written (doc/probes-format.md).
 */
#ifndef INGOT_UTIL_ENTRY_KIND_H
#define INGOT_UTIL_ENTRY_KIND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ENTRY_MAGIC_SIZE = 8 };

#define ENTRY_RESULT_MAGIC "INGOTRID"
#define ENTRY_ARTIFACT_MAGIC "INGOTAID"
#define ENTRY_PROBES_MAGIC "INGOTPB\n"

enum entry_kind {
    ENTRY_UNKNOWN,  /* of another version, or not an id */
    ENTRY_RESULT,   /* a compiled program */
    ENTRY_ARTIFACT, /* what an application made itself, or a request (doc/request-format.md) */
    ENTRY_PROBES,   /* what was asked of the file system to find a program, and the answers */
    ENTRY_KIND_COUNT
};

/* id: may be NULL. */
static inline enum entry_kind entry_kind_of(size_t id_size, const uint8_t *id)
{
    static const char *const magics[ENTRY_KIND_COUNT] = {"", ENTRY_RESULT_MAGIC, ENTRY_ARTIFACT_MAGIC,
                                                         ENTRY_PROBES_MAGIC};
    for (unsigned kind = ENTRY_RESULT; id != NULL && id_size >= ENTRY_MAGIC_SIZE && kind < ENTRY_KIND_COUNT; ++kind)
        if (memcmp(id, magics[kind], ENTRY_MAGIC_SIZE) == 0)
            return (enum entry_kind)kind;
    return ENTRY_UNKNOWN;
}

#endif

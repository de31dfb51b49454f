/*
 * prewarm.h - gives a program that a prewarm has loaded to a caller that requests it.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_H
#define INGOT_PERSIST_PREWARM_PREWARM_H

#include <ingot/prewarm.h>
#include <stdbool.h>

/* Takes the program that a prewarm has loaded for an id. If it is still loading, waits for it. Returns false if there
 * is no such program. */
bool prewarm_take(ingot_storage_t storage, const struct ingot_context *context, size_t id_size, const uint8_t *id,
                  ingot_program_t *program);

#endif

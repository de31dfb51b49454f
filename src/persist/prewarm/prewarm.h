/*
 * prewarm.h - gives a program that was loaded ahead to a caller that requests it.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_H
#define INGOT_PERSIST_PREWARM_PREWARM_H

#include <ingot/prewarm.h>
#include <stdbool.h>

/* Takes the program of an id that was loaded ahead, or waits for it if it is loading. Returns false if there is
 * none. */
bool prewarm_take(ingot_storage_t storage, const struct ingot_context *context, size_t id_size, const uint8_t *id,
                  ingot_program_t *program);

#endif

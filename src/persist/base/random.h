/*
 * random.h - makes random bytes for keys.
 */
#ifndef INGOT_PERSIST_BASE_RANDOM_H
#define INGOT_PERSIST_BASE_RANDOM_H

#include <ingot/ingot.h>

/* Fills memory with random bytes from the operating system, after waiting until its generator is ready. Returns
 * INGOT_IO_ERROR on failure. */
ingot_status_t random_fill(size_t size, uint8_t *bytes);

#endif

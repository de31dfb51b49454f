/*
 * random.h - random bytes for keys.
 */
#ifndef INGOT_PERSIST_BASE_RANDOM_H
#define INGOT_PERSIST_BASE_RANDOM_H

#include <ingot/ingot.h>

/* Fills memory with bytes of the operating system's generator, and waits until that is ready. INGOT_IO_ERROR. */
ingot_status_t random_fill(size_t size, uint8_t *bytes);

#endif

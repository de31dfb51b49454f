/*
 * sha256.h - computes SHA-256 digests, with the processor's instructions for them if it has these.
 *
 * libsodium computes in plain C, about 200 MB per second. That was half of the processor time of a pull.
 */
#ifndef INGOT_REMOTE_BASE_SHA256_H
#define INGOT_REMOTE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32u

void sha256_of(size_t size, const void *bytes, uint8_t digest[SHA256_SIZE]);

#endif

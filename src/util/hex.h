/*
 * hex.h - writes bytes as hexadecimal digits, for ids, object names and texts for users.
 *
 * How long hex_put takes depends on the bytes, because it looks them up in a table. So secret keys are written with
 * sodium_bin2hex.
 */
#ifndef INGOT_UTIL_HEX_H
#define INGOT_UTIL_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Writes two lowercase digits per byte, without a NUL. */
static inline void hex_put(char *text, size_t size, const uint8_t *bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; ++i) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
}

#endif

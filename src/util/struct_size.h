/*
 * struct_size.h - reads and writes public structures of callers that were compiled with another version of the library.
 *
 * Such a structure begins with its size in the caller's version. If the caller is older and its structure is shorter,
 * the missing fields get their defaults. If the caller is newer and its structure is longer, only the fields that this
 * library knows are read. A size that leaves no room for a field counts as not set.
 */
#ifndef INGOT_UTIL_STRUCT_SIZE_H
#define INGOT_UTIL_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns how many bytes of the caller's structure this library knows. Returns 0 if `given` is NULL or its size is not
 * set. */
static inline size_t struct_size_of(size_t known_size, const void *given)
{
    size_t given_size = 0;

    if (given != NULL)
        memcpy(&given_size, given, sizeof(given_size));
    if (given_size <= sizeof(size_t))
        return 0;
    return given_size < known_size ? given_size : known_size;
}

/* Copies the caller's structure over `known`, which holds the defaults, and then sets the size in `known` to
 * known_size. Returns false if `given` is NULL or its size is not set. */
static inline bool struct_read(void *known, size_t known_size, const void *given)
{
    const size_t size = struct_size_of(known_size, given);

    if (size == 0)
        return false;
    memcpy(known, given, size);
    memcpy(known, &known_size, sizeof(known_size));
    return true;
}

/* Copies `known` to the fields that the caller's structure has room for, and leaves its size unchanged. Returns false
 * if `given` is NULL or its size is not set. */
static inline bool struct_write(void *given, const void *known, size_t known_size)
{
    const size_t size = struct_size_of(known_size, given);

    if (size == 0)
        return false;
    memcpy((char *)given + sizeof(size_t), (const char *)known + sizeof(size_t), size - sizeof(size_t));
    return true;
}

#define STRUCT_IS_SET(given) (struct_size_of(sizeof(*(given)), (given)) != 0)
/* Read a caller's structure. With STRUCT_READ_OVER, the defaults are the values in `known`; with STRUCT_READ, zeros. */
#define STRUCT_READ_OVER(known, given) struct_read(&(known), sizeof(known), (given))
#define STRUCT_READ(known, given) (memset(&(known), 0, sizeof(known)), STRUCT_READ_OVER(known, given))
#define STRUCT_WRITE(given, known) struct_write((given), &(known), sizeof(known))

#endif

/*
 * struct_size.h - public structures across versions of the library.
 *
 * A structure begins with the size that its user was compiled with. If it is older and shorter, missing fields get
 * their defaults. If it is newer and longer, only the part that is known here is read. A size that is too small for any
 * field counts as not set.
 */
#ifndef INGOT_UTIL_STRUCT_SIZE_H
#define INGOT_UTIL_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns the size in bytes of the part of the user's structure that is known here; 0 if given is NULL or its size is
 * not set. */
static inline size_t struct_size_of(size_t known_size, const void *given)
{
    size_t given_size = 0;

    if (given != NULL)
        memcpy(&given_size, given, sizeof(given_size));
    if (given_size <= sizeof(size_t))
        return 0;
    return given_size < known_size ? given_size : known_size;
}

/* Reads a user's structure. known holds the defaults, and has its own size afterwards. Returns false if nothing was
 * given. */
static inline bool struct_read(void *known, size_t known_size, const void *given)
{
    const size_t size = struct_size_of(known_size, given);

    if (size == 0)
        return false;
    memcpy(known, given, size);
    memcpy(known, &known_size, sizeof(known_size));
    return true;
}

/* Does the reverse: fills the fields that the user's structure has room for, and leaves its struct_size unchanged. */
static inline bool struct_write(void *given, const void *known, size_t known_size)
{
    const size_t size = struct_size_of(known_size, given);

    if (size == 0)
        return false;
    memcpy((char *)given + sizeof(size_t), (const char *)known + sizeof(size_t), size - sizeof(size_t));
    return true;
}

#define STRUCT_IS_SET(given) (struct_size_of(sizeof(*(given)), (given)) != 0)
/* Read a structure. STRUCT_READ_OVER takes the values in known as defaults; STRUCT_READ takes zeros. */
#define STRUCT_READ_OVER(known, given) struct_read(&(known), sizeof(known), (given))
#define STRUCT_READ(known, given) (memset(&(known), 0, sizeof(known)), STRUCT_READ_OVER(known, given))
#define STRUCT_WRITE(given, known) struct_write((given), &(known), sizeof(known))

#endif

/*
 * struct_size.h - public structures across versions of the library.
 *
 * A structure begins with the size that its user was compiled with. An older, shorter one is read with the defaults for
 * what it lacks; of a newer, longer one, the part that is known here is read. A size too small for any field counts as
 * not set.
 */
#ifndef INGOT_UTIL_STRUCT_SIZE_H
#define INGOT_UTIL_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The part of the user's structure that is known here, in bytes; 0: given is NULL, or its size is not set. */
static inline size_t struct_size_of(size_t known_size, const void *given)
{
    size_t given_size = 0;

    if (given != NULL)
        memcpy(&given_size, given, sizeof(given_size));
    if (given_size <= sizeof(size_t))
        return 0;
    return given_size < known_size ? given_size : known_size;
}

/* known holds the defaults, and has its own size afterwards. False: nothing was given. */
static inline bool struct_read(void *known, size_t known_size, const void *given)
{
    const size_t size = struct_size_of(known_size, given);

    if (size == 0)
        return false;
    memcpy(known, given, size);
    memcpy(known, &known_size, sizeof(known_size));
    return true;
}

/* Does the reverse: fills the fields for which the user's structure has room and leaves its struct_size as it is. */
static inline bool struct_write(void *given, const void *known, size_t known_size)
{
    const size_t size = struct_size_of(known_size, given);

    if (size == 0)
        return false;
    memcpy((char *)given + sizeof(size_t), (const char *)known + sizeof(size_t), size - sizeof(size_t));
    return true;
}

#define STRUCT_IS_SET(given) (struct_size_of(sizeof(*(given)), (given)) != 0)
/* The defaults are those that known holds, or zeros. */
#define STRUCT_READ_OVER(known, given) struct_read(&(known), sizeof(known), (given))
#define STRUCT_READ(known, given) (memset(&(known), 0, sizeof(known)), STRUCT_READ_OVER(known, given))
#define STRUCT_WRITE(given, known) struct_write((given), &(known), sizeof(known))

#endif

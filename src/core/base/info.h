/*
 * info.h - information structures across versions of the library.
 *
 * A structure begins with the size its user was compiled with. An older, shorter one is read with zeros, which mean
 * "default", for what it lacks; of a newer, longer one the part known here is read.
 */
#ifndef INGOT_CORE_BASE_INFO_H
#define INGOT_CORE_BASE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool info_read(void *known, size_t known_size, const void *given)
{
    size_t given_size = 0;

    memset(known, 0, known_size);
    if (given == NULL)
        return false;
    memcpy(&given_size, given, sizeof(given_size));
    if (given_size <= sizeof(size_t))
        return false;
    memcpy(known, given, given_size < known_size ? given_size : known_size);
    return true;
}

/* The other way: fills what the user's structure has room for and leaves its struct_size as it is. */
static inline bool info_write(void *given, const void *known, size_t known_size)
{
    size_t given_size = 0;

    if (given == NULL)
        return false;
    memcpy(&given_size, given, sizeof(given_size));
    if (given_size <= sizeof(size_t))
        return false;
    const size_t size = given_size < known_size ? given_size : known_size;
    memcpy((char *)given + sizeof(size_t), (const char *)known + sizeof(size_t), size - sizeof(size_t));
    return true;
}

#define INFO_READ(known, given) info_read(&(known), sizeof(known), (given))
#define INFO_WRITE(given, known) info_write((given), &(known), sizeof(known))

#endif

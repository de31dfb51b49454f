/*
 * paths.c - writes and recognizes the names of the files and directories in a store.
 *
 * Each load writes a path, so this file writes digits itself instead of using a format string, which would take longer.
 */
#include "persist/directory/format/paths.h"

#include <string.h>

#define TEMPORARY_DIGITS 16u

static const char hex[] = "0123456789abcdef";
static const char decimal[] = "0123456789";

/* Appends the digits of some bytes at `end`, and returns the new end. */
static char *append_hex(char *end, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        *end++ = hex[bytes[i] >> 4];
        *end++ = hex[bytes[i] & 15];
    }
    *end = '\0';
    return end;
}

static bool parse_hex(const char *text, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < 2 * count; ++i) {
        const char *digit = text[i] != '\0' ? strchr(hex, text[i]) : NULL;
        if (digit == NULL)
            return false;
        bytes[i / 2] = (uint8_t)((i % 2 != 0 ? bytes[i / 2] << 4 : 0) | (digit - hex));
    }
    return true;
}

static char *append_name_space(char *path, const char *name_space)
{
    return name_space[0] != '\0' ? stpcpy(stpcpy(path, name_space), "/") : path;
}

void paths_place(char text[PATHS_PLACE_SIZE], const struct checksum *hash)
{
    char *end = append_hex(text, hash->bytes, 1);
    *end = '/';
    (void)append_hex(end + 1, hash->bytes + 1, CHECKSUM_SIZE - 1);
}

bool paths_parse_entry(const char *name, struct checksum *hash)
{
    return parse_hex(name, hash->bytes + 1, CHECKSUM_SIZE - 1) && name[2 * (CHECKSUM_SIZE - 1)] == '\0';
}

bool paths_parse_shard(const char *name, uint8_t *shard)
{
    return parse_hex(name, shard, 1) && name[2] == '\0';
}

bool paths_parse_place(const char *text, struct checksum *hash)
{
    return parse_hex(text, hash->bytes, 1) && text[2] == '/' && paths_parse_entry(text + 3, hash);
}

void paths_entry(char path[PATH_CAPACITY], const char *name_space, const struct checksum *hash)
{
    paths_place(append_name_space(path, name_space), hash);
}

void paths_shard(char path[PATH_CAPACITY], const char *name_space, uint8_t shard)
{
    (void)append_hex(append_name_space(path, name_space), &shard, 1);
}

void paths_in_name_space(char path[PATH_CAPACITY], const char *name_space, const char *name)
{
    (void)stpcpy(append_name_space(path, name_space), name);
}

void paths_join(char path[PATH_CAPACITY], const char *parent, const char *name)
{
    (void)stpcpy(stpcpy(stpcpy(path, parent), "/"), name);
}

void paths_temporary(char path[PATH_CAPACITY], const char *parent, uint64_t number)
{
    char *end = stpcpy(stpcpy(path, parent), "/");
    for (unsigned i = 0; i < TEMPORARY_DIGITS; ++i, number <<= 4)
        *end++ = hex[number >> 60];
    *end = '\0';
}

bool paths_is_temporary(const char *name)
{
    return strspn(name, hex) == TEMPORARY_DIGITS && name[TEMPORARY_DIGITS] == '\0';
}

static bool is_one_of(const char *name, size_t count, const char *const *names)
{
    size_t i = 0;
    while (i < count && strcmp(name, names[i]) != 0)
        ++i;
    return i < count;
}

bool paths_is_namespace(const char *name)
{
    static const char *const taken[] = {".",         "..",       "CACHEDIR.TAG", "index.bin",  "lock",
                                        "saved.txt", "size.txt", "tmp",          PATHS_WANTED, PATHS_EVICTED};
    const size_t length = strlen(name);
    uint8_t shard;
    return length != 0 && length <= NAMESPACE_MAX && !paths_parse_shard(name, &shard) &&
           strspn(name, decimal) != length && !is_one_of(name, sizeof(taken) / sizeof(taken[0]), taken) &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == length;
}

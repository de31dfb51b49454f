/*
 * paths.c - writes and recognizes the names of the files and directories in a store.
 *
 * Each load writes a path, so this file writes digits itself instead of using a format string, which would take longer.
 */
#include "persist/directory/format/paths.h"

#include <string.h>

#include "util/quantity.h"

#define HEX_DIGITS 16

static const char hex[] = "0123456789abcdef";

/* Appends a number at `end`, and returns the new end. Writes two digits per division, because each division must wait
 * for the one before it. */
static char *append_number(char *end, uint64_t number)
{
    char digits[DIGITS_MAX];
    size_t begin = DIGITS_MAX;
    for (; number >= 100; number /= 100) {
        const unsigned pair = (unsigned)(number % 100);
        digits[--begin] = (char)('0' + pair % 10);
        digits[--begin] = (char)('0' + pair / 10);
    }
    digits[--begin] = (char)('0' + number % 10);
    if (number >= 10)
        digits[--begin] = (char)('0' + number / 10);
    memcpy(end, digits + begin, DIGITS_MAX - begin);
    end += DIGITS_MAX - begin;
    *end = '\0';
    return end;
}

void paths_bucket(char path[PATH_CAPACITY], const char *name_space, uint64_t bucket)
{
    char *end = path;
    if (name_space[0] != '\0') {
        end = stpcpy(end, name_space);
        end = stpcpy(end, "/");
    }
    (void)append_number(end, bucket);
}

void paths_entry(char path[PATH_CAPACITY], const char *parent, uint32_t number)
{
    char *end = stpcpy(path, parent);
    end = stpcpy(end, "/");
    (void)append_number(end, number);
}

void paths_join(char path[PATH_CAPACITY], const char *parent, const char *name)
{
    char *end = stpcpy(path, parent);
    end = stpcpy(end, "/");
    (void)stpcpy(end, name);
}

void paths_number(char text[PATH_CAPACITY], uint64_t number)
{
    (void)append_number(text, number);
}

void paths_temporary(char path[PATH_CAPACITY], const char *parent, uint64_t number)
{
    char *end = stpcpy(path, parent);
    end = stpcpy(end, "/");
    for (int i = 0; i < HEX_DIGITS; ++i, number <<= 4)
        *end++ = hex[number >> 60];
    *end = '\0';
}

bool paths_parse_number(const char *name, uint64_t max, uint64_t *number)
{
    const size_t length = strlen(name);
    size_t digits;
    return (name[0] != '0' || length == 1) && digits_read(length, name, max, number, &digits) && digits == length;
}

bool paths_is_temporary(const char *name)
{
    uint64_t number;
    const char *end = name + strspn(name, hex);
    return end == name + HEX_DIGITS &&
           (*end == '\0' || (*end == '-' && paths_parse_number(end + 1, UINT64_MAX, &number)));
}

bool paths_is_namespace(const char *name)
{
    static const char *const taken[] = {".",         "..",   "CACHEDIR.TAG", "headers.memo",       "headers.memo.new",
                                        "index.bin", "lock", PATHS_RECIPE,   PATHS_RECIPE_REWRITE, "saved.txt",
                                        "size.txt",  "tmp"};
    const size_t length = strlen(name);
    if (length == 0 || length > NAMESPACE_MAX || strspn(name, "0123456789") == length)
        return false;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); ++i)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == length;
}

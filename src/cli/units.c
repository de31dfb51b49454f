/*
 * units.c - sizes, ages and times; see units.h.
 */
#include "cli/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)

const char *units_bytes(uint64_t bytes, char text[UNITS_TEXT_SIZE])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1023.95 && unit + 1 < sizeof(names) / sizeof(names[0])) { /* never "1024.0" */
        value /= 1024;
        ++unit;
    }
    if (unit == 0)
        (void)snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 " B", bytes);
    else
        (void)snprintf(text, UNITS_TEXT_SIZE, "%.1f %s", value, names[unit]);
    return text;
}

const char *units_age(uint64_t since_ns, uint64_t now_ns, char text[UNITS_TEXT_SIZE])
{
    static const struct {
        uint64_t seconds;
        char name;
    } units[] = {{UINT64_C(365) * 86400, 'y'}, {86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    const uint64_t age = now_ns > since_ns ? (now_ns - since_ns) / NS_PER_SECOND : 0;
    size_t unit = 0;

    while (unit + 1 < sizeof(units) / sizeof(units[0]) && age < 2 * units[unit].seconds)
        ++unit;
    (void)snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 "%c", age / units[unit].seconds, units[unit].name);
    return text;
}

const char *units_time(uint64_t since_epoch_ns, char text[UNITS_TEXT_SIZE])
{
    const time_t seconds = (time_t)(since_epoch_ns / NS_PER_SECOND);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, UNITS_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        (void)snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64, since_epoch_ns);
    return text;
}

uint64_t units_now_ns(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static bool parse_digits(const char *text, uint64_t *number, const char **end)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; ++at) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    *end = at;
    return at != text;
}

static bool scale(uint64_t *number, uint64_t factor)
{
    if (*number > UINT64_MAX / factor)
        return false;
    *number *= factor;
    return true;
}

bool units_parse_bytes(const char *text, uint64_t *bytes)
{
    static const char prefixes[] = "KMGT";
    const char *end;
    if (!parse_digits(text, bytes, &end))
        return false;
    if (strcmp(end, "") == 0 || strcmp(end, "B") == 0)
        return true;
    const char *prefix = strchr(prefixes, *end & ~0x20); /* either case */
    if (prefix == NULL || *prefix == '\0' || (strcmp(end + 1, "") != 0 && strcmp(end + 1, "iB") != 0))
        return false;
    return scale(bytes, UINT64_C(1) << (10u * (unsigned)(prefix - prefixes + 1)));
}

bool units_parse_age(const char *text, uint64_t *seconds)
{
    const char *end;
    if (!parse_digits(text, seconds, &end) || *end == '\0' || end[1] != '\0')
        return false;
    switch (*end) {
    case 's': return true;
    case 'm': return scale(seconds, 60);
    case 'h': return scale(seconds, 3600);
    case 'd': return scale(seconds, 86400);
    case 'w': return scale(seconds, UINT64_C(7) * 86400);
    default: return false;
    }
}

bool units_parse_count(const char *text, uint64_t *count)
{
    const char *end;
    return parse_digits(text, count, &end) && *end == '\0';
}

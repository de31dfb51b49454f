/*
 * units.c - formats sizes, ages and times; see base.h.
 */
#include "cli/base/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "util/nanoseconds.h"

#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"

/* Formats a number in the largest unit in which it is at least 1. Each unit is `step` times the one before. */
static void put_scaled(uint64_t number, double step, size_t count, const char *const *names, char *text)
{
    double value = (double)number;
    size_t unit = 0;
    while (value >= step - 0.05 && unit + 1 < count) { /* never "1024.0" */
        value /= step;
        ++unit;
    }
    (void)snprintf(text, UNITS_TEXT_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", value, names[unit]);
}

const char *units_bytes(uint64_t bytes, char text[UNITS_TEXT_SIZE])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    put_scaled(bytes, 1024, sizeof(names) / sizeof(names[0]), names, text);
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

const char *units_duration(uint64_t duration_ns, char text[UNITS_TEXT_SIZE])
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    const uint64_t minutes = duration_ns / (60 * NS_PER_SECOND);
    if (minutes >= 60)
        (void)snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 "h %02" PRIu64 "m", minutes / 60, minutes % 60);
    else if (minutes != 0)
        (void)snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 "m %02" PRIu64 "s", minutes, duration_ns / NS_PER_SECOND % 60);
    else
        put_scaled(duration_ns, 1000, sizeof(names) / sizeof(names[0]), names, text);
    return text;
}

const char *units_time(uint64_t since_epoch_ns, char text[UNITS_TEXT_SIZE])
{
    const time_t seconds = (time_t)(since_epoch_ns / NS_PER_SECOND);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, UNITS_TEXT_SIZE, TIME_FORMAT, &parts) == 0)
        (void)snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64, since_epoch_ns);
    return text;
}

uint64_t units_read_time(const char *text)
{
    struct tm parts = {.tm_year = 0};
    const char *end = strptime(text, TIME_FORMAT, &parts);
    const time_t seconds = end != NULL ? timegm(&parts) : 0;
    return seconds > 0 ? (uint64_t)seconds * NS_PER_SECOND : 0;
}

uint64_t units_now_ns(void)
{
    return nanoseconds_of(CLOCK_REALTIME);
}

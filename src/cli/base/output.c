/*
 * output.c - prints JSON by a pattern; see base.h.
 */
#include "cli/base/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/nanoseconds.h"

enum { NAME_SIZE = 32, SHORT_SIZE = 12, DEFAULT_INDENT = 2 };

struct printing {
    FILE *stream;
    bool is_line;      /* texts are escaped, so that they begin no line */
    const cJSON *json; /* the object whose members the pattern names; NULL: nothing is printed */
};

static const char *put_pattern(const struct printing *printing, const char *at, char end);

/* Copies a name or a format, up to one of the characters that may follow. Returns what follows. */
static const char *take_name(const char *at, const char *ends, char name[NAME_SIZE])
{
    const size_t size = strcspn(at, ends);
    (void)snprintf(name, NAME_SIZE, "%.*s", (int)size, at);
    return at + size;
}

static const cJSON *member_of(const cJSON *json, const char *name)
{
    return name[0] != '\0' ? cJSON_GetObjectItemCaseSensitive(json, name) : json;
}

static bool is_set(const cJSON *value)
{
    if (cJSON_IsString(value))
        return value->valuestring[0] != '\0';
    if (cJSON_IsArray(value) || cJSON_IsObject(value))
        return value->child != NULL;
    return cJSON_IsTrue(value) || json_u64_of(value) != 0;
}

static void put_formatted_text(const struct printing *printing, const char *text, const char *format)
{
    const unsigned long column = strtoul(format, NULL, 10);
    if (strcmp(format, "short") == 0)
        (void)fprintf(printing->stream, "%.*s", SHORT_SIZE, text);
    else
        text_put(printing->stream, text,
                 printing->is_line ? TEXT_ONE_LINE
                 : column != 0     ? (unsigned)column
                                   : DEFAULT_INDENT);
}

static const char *put_json_value(const struct printing *printing, const char *at)
{
    char name[NAME_SIZE];
    char format[NAME_SIZE] = "";
    char missing[NAME_SIZE] = "";
    at = take_name(at, ":|}", name);
    if (*at == ':')
        at = take_name(at + 1, "|}", format);
    if (*at == '|')
        at = take_name(at + 1, "}", missing);
    if (printing->json == NULL)
        return at + 1;
    const cJSON *value = member_of(printing->json, name);
    if (strcmp(name, "@") == 0)
        put_formatted_text(printing, printing->json->string, format);
    else if (value == NULL || cJSON_IsNull(value))
        (void)fputs(missing, printing->stream);
    else {
        char text[UNITS_TEXT_SIZE] = "";
        const uint64_t number = json_u64_of(value);
        const uint64_t ns = number < UINT64_MAX / NS_PER_MS ? number * NS_PER_MS : UINT64_MAX;
        if (strcmp(format, "size") == 0)
            (void)units_bytes(number, text);
        else if (strcmp(format, "duration") == 0)
            (void)units_duration(number, text);
        else if (strcmp(format, "duration_ms") == 0)
            (void)units_duration(ns, text);
        else if (strcmp(format, "time_ms") == 0)
            (void)units_time(ns, text);
        else if (strcmp(format, "age") == 0 && cJSON_IsString(value))
            (void)units_age(units_read_time(value->valuestring), units_now_ns(), text);
        else if (cJSON_IsRaw(value) || cJSON_IsNumber(value))
            (void)snprintf(text, sizeof(text), "%" PRIu64, number);
        else if (cJSON_IsString(value))
            put_formatted_text(printing, value->valuestring, format);
        (void)fputs(text, printing->stream);
    }
    return at + 1;
}

static const char *put_if(const struct printing *printing, const char *at)
{
    char name[NAME_SIZE];
    struct printing inner = *printing;
    at = take_name(at, "?!", name);
    if (printing->json != NULL && is_set(member_of(printing->json, name)) != (*at == '?'))
        inner.json = NULL;
    return put_pattern(&inner, at + 1, ']');
}

static const char *put_each(const struct printing *printing, const char *at)
{
    char name[NAME_SIZE];
    struct printing inner = *printing;
    at = take_name(at, "*", name) + 1;
    const cJSON *list = printing->json != NULL ? member_of(printing->json, name) : NULL;
    for (inner.json = list != NULL ? list->child : NULL; inner.json != NULL; inner.json = inner.json->next)
        (void)put_pattern(&inner, at, '>');
    return put_pattern(&inner, at, '>'); /* passes over the part */
}

/* Prints a pattern up to the character that ends it. Returns what follows that. */
static const char *put_pattern(const struct printing *printing, const char *at, char end)
{
    while (*at != end) {
        if (*at == '{')
            at = put_json_value(printing, at + 1);
        else if (*at == '[')
            at = put_if(printing, at + 1);
        else if (*at == '<')
            at = put_each(printing, at + 1);
        else if (printing->json != NULL)
            (void)fputc(*at++, printing->stream);
        else
            ++at;
    }
    return end != '\0' ? at + 1 : at;
}

void output_put(FILE *stream, const char *pattern, const cJSON *json)
{
    const struct printing printing = {stream, false, json};
    (void)put_pattern(&printing, pattern, '\0');
}

char *output_text(const char *pattern, const cJSON *json)
{
    char *text = NULL;
    size_t size = 0;
    const struct printing printing = {open_memstream(&text, &size), true, json};
    if (printing.stream == NULL)
        return memory_copy_text("");
    (void)put_pattern(&printing, pattern, '\0');
    (void)fclose(printing.stream);
    return text;
}

void output_print(cJSON *json, bool is_json, const char *pattern)
{
    const cJSON *item = cJSON_IsArray(json) ? json->child : json;
    if (is_json) {
        json_print(json);
        return;
    }
    for (; item != NULL; item = item->next)
        output_put(stdout, pattern, item);
    cJSON_Delete(json);
}

bool output_finish(void)
{
    const bool is_written = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (!is_written)
        (void)fputs("ingot: writing the output failed\n", stderr);
    return is_written;
}

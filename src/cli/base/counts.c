/*
 * counts.c - prints what a command has done; see counts.h.
 */
#include "cli/base/counts.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/base/json.h"

void counts_print(bool is_json, size_t count, const struct count *counts)
{
    cJSON *json = is_json ? cJSON_CreateObject() : NULL;
    for (size_t i = 0; i < count; ++i) {
        if (is_json)
            json_add_u64(json, counts[i].name, counts[i].value);
        else
            (void)printf("%s%" PRIu64 " %s", i != 0 ? ", " : "", counts[i].value, counts[i].text);
    }
    if (is_json)
        json_print(json);
    else
        (void)putchar('\n');
}

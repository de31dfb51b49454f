/*
 * json.c - extends cJSON; see base.h.
 */
#include "cli/base/base.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void json_init(void)
{
    cJSON_Hooks hooks = {memory_get, free};
    cJSON_InitHooks(&hooks);
}

void json_add_u64(cJSON *object, const char *name, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    (void)cJSON_AddItemToObjectCS(object, name, cJSON_CreateRaw(text));
}

uint64_t json_u64_of(const cJSON *value)
{
    const double number = cJSON_GetNumberValue(value); /* NaN if it is not a number */
    if (cJSON_IsRaw(value))
        return strtoull(value->valuestring, NULL, 10);
    if (!(number > 0))
        return 0;
    return number < (double)UINT64_MAX ? (uint64_t)number : UINT64_MAX;
}

uint64_t json_get_u64(const cJSON *object, const char *name)
{
    return json_u64_of(cJSON_GetObjectItem(object, name));
}

const char *json_text(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

void json_add_time(cJSON *object, const char *name, uint64_t since_epoch_ns)
{
    char text[UNITS_TEXT_SIZE];
    json_add_text(object, name, since_epoch_ns != 0 ? units_time(since_epoch_ns, text) : NULL);
}

void json_add_text(cJSON *object, const char *name, const char *text)
{
    (void)cJSON_AddItemToObjectCS(object, name, text != NULL ? cJSON_CreateString(text) : cJSON_CreateNull());
}

cJSON *json_describe(ingot_status_t (*describe)(size_t size, const uint8_t *bytes, size_t *text_size, char *text),
                     size_t size, const uint8_t *bytes)
{
    size_t text_size = 0;
    if (describe(size, bytes, &text_size, NULL) != INGOT_SUCCESS)
        return NULL;
    char *text = memory_get(text_size);
    cJSON *json = describe(size, bytes, &text_size, text) == INGOT_SUCCESS ? cJSON_Parse(text) : NULL;
    free(text);
    return json;
}

void json_print(cJSON *json)
{
    const bool is_list = cJSON_IsArray(json);
    const cJSON *item = is_list ? json->child : json;
    (void)fputs(is_list ? "[" : "", stdout);
    for (; item != NULL; item = item->next) {
        char *text = is_list ? cJSON_PrintUnformatted(item) : cJSON_Print(item);
        (void)fputs(!is_list ? "" : item == json->child ? "\n" : ",\n", stdout);
        (void)fputs(text, stdout);
        cJSON_free(text);
    }
    (void)fputs(!is_list ? "\n" : json->child != NULL ? "\n]\n" : "]\n", stdout);
    cJSON_Delete(json);
}

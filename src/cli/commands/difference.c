/*
 * difference.c - compares lists of texts; see difference.h.
 */
#include "cli/commands/difference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/memory.h"
#include "cli/base/text.h"

static const char separators[] = " \t\r\n";

static bool has_item(const cJSON *list, const cJSON *wanted)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (strcmp(item->valuestring, wanted->valuestring) == 0)
            return true;
    }
    return false;
}

void difference_add_words(cJSON *list, const char *text)
{
    char *rest = NULL;
    char *copy = memory_copy_text(text != NULL ? text : "");
    for (const char *word = strtok_r(copy, separators, &rest); word != NULL; word = strtok_r(NULL, separators, &rest))
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(word));
    free(copy);
}

void difference_keep_common(cJSON *list, const cJSON *other)
{
    for (cJSON *item = list->child, *next = NULL; item != NULL; item = next) {
        next = item->next;
        if (!has_item(other, item))
            cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
    }
}

char *difference_from(const cJSON *list, const cJSON *common)
{
    const cJSON *item;
    char *items = NULL;
    cJSON_ArrayForEach(item, list)
    {
        if (!has_item(common, item))
            items = text_append(items, " ", item->valuestring);
    }
    return items;
}

double difference_of_texts(const char *a, const char *b)
{
    cJSON *left = cJSON_CreateArray();
    cJSON *right = cJSON_CreateArray();
    difference_add_words(left, a);
    difference_add_words(right, b);
    const int all = cJSON_GetArraySize(left) + cJSON_GetArraySize(right);
    difference_keep_common(left, right);
    difference_keep_common(right, left);
    const int shared = cJSON_GetArraySize(left) + cJSON_GetArraySize(right);
    cJSON_Delete(right);
    cJSON_Delete(left);
    return all == 0 ? 0 : (double)(all - shared) / (double)all;
}

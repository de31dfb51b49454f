/*
 * difference.c - compares lists of items; see difference.h.
 */
#include "cli/commands/difference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/memory.h"
#include "cli/base/text.h"

static const char separators[] = " \t\r\n";

/* Returns the size of the item at the beginning of a list. */
static size_t item_size(const char *list)
{
    return strcspn(list, "\n");
}

static const char *next_of(const char *item)
{
    const size_t size = item_size(item);
    return item + size + (item[size] != '\0');
}

static size_t count_items(const char *list)
{
    size_t count = 0;
    for (; list != NULL && *list != '\0'; list = next_of(list))
        ++count;
    return count;
}

static bool has_item(const char *list, size_t size, const char *item)
{
    for (; list != NULL && *list != '\0'; list = next_of(list)) {
        if (item_size(list) == size && memcmp(list, item, size) == 0)
            return true;
    }
    return false;
}

char *difference_add_words(char *list, const char *text)
{
    char *rest = NULL;
    char *copy = memory_copy_text(text != NULL ? text : "");
    for (const char *word = strtok_r(copy, separators, &rest); word != NULL; word = strtok_r(NULL, separators, &rest))
        list = text_append(list, "\n", word);
    free(copy);
    return list;
}

void difference_keep_common(char *list, const char *other)
{
    char *end = list;
    if (list == NULL)
        return;
    for (const char *item = list; *item != '\0';) {
        const size_t size = item_size(item);
        const char *next = next_of(item);
        if (has_item(other, size, item)) {
            if (end != list)
                *end++ = '\n'; /* at most the one before this item */
            memmove(end, item, size);
            end += size;
        }
        item = next;
    }
    *end = '\0';
}

char *difference_from(const char *list, const char *common)
{
    char *items = NULL;
    for (; list != NULL && *list != '\0'; list = next_of(list)) {
        const size_t size = item_size(list);
        if (has_item(common, size, list))
            continue;
        char *item = memory_copy_text(list);
        item[size] = '\0';
        items = text_append(items, " ", item);
        free(item);
    }
    return items;
}

double difference_of_texts(const char *a, const char *b)
{
    char *left = difference_add_words(NULL, a);
    char *right = difference_add_words(NULL, b);
    const size_t all = count_items(left) + count_items(right);
    char *common = left != NULL ? memory_copy_text(left) : NULL;
    difference_keep_common(common, right);
    difference_keep_common(right, left);
    const size_t shared = count_items(common) + count_items(right);
    free(common);
    free(right);
    free(left);
    return all == 0 ? 0 : (double)(all - shared) / (double)all;
}

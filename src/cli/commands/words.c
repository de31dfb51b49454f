/*
 * words.c - compares two texts as lists of words; see words.h.
 */
#include "cli/commands/words.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/memory.h"

static const char separators[] = " \t\r\n";

struct words {
    char *text; /* a copy of the text in which a NUL ends each word */
    const char **list;
    size_t count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void init(struct words *words, const char *text)
{
    char *rest = NULL;
    *words = (struct words){.text = memory_copy_text(text)};
    for (char *at = words->text;; at = NULL) {
        const char *word = strtok_r(at, separators, &rest);
        if (word == NULL)
            break;
        words->list = memory_grow(words->list, words->count, sizeof(*words->list));
        words->list[words->count++] = word;
    }
    if (words->count > 1)
        qsort(words->list, words->count, sizeof(*words->list), compare);
}

static void fini(struct words *words)
{
    free(words->list);
    free(words->text);
}

double words_distance(const char *a, const char *b)
{
    struct words left;
    struct words right;
    size_t common = 0;

    init(&left, a);
    init(&right, b);
    for (size_t i = 0, j = 0; i < left.count && j < right.count;) {
        const int order = strcmp(left.list[i], right.list[j]);
        common += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    const size_t all = left.count + right.count;
    fini(&left);
    fini(&right);
    return all == 0 ? 0 : (double)(all - 2 * common) / (double)all;
}

/*
 * nearest.c - compares words by the number of characters to insert, remove, replace or exchange; see nearest.h.
 */
#include "cli/usage/nearest.h"

#include <string.h>

enum { MOST_CHARACTERS = 32 }; /* no command or option is longer */

static size_t get_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many characters of `a` must be inserted, removed, replaced or exchanged with the next one to get `b`. */
static size_t count_edits(size_t a_size, const char *a, size_t b_size, const char *b)
{
    size_t rows[MOST_CHARACTERS + 1][MOST_CHARACTERS + 1];
    for (size_t i = 0; i <= a_size; ++i) {
        for (size_t j = 0; j <= b_size; ++j) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            rows[i][j] = get_smaller(replaced, 1 + get_smaller(rows[i - 1][j], rows[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = get_smaller(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a_size][b_size];
}

void nearest_init(struct nearest *nearest, size_t size, const char *text)
{
    /* At most a third of the characters may be wrong, or one of a short word. */
    *nearest = (struct nearest){text, size, NULL, size < 6 ? 2 : size / 3 + 1};
}

void nearest_add(struct nearest *nearest, const char *word)
{
    const size_t size = strlen(word);
    if (size > MOST_CHARACTERS || nearest->size > MOST_CHARACTERS)
        return;
    const size_t found = count_edits(nearest->size, nearest->text, size, word);
    if (found >= nearest->distance)
        return;
    nearest->found = word;
    nearest->distance = found;
}

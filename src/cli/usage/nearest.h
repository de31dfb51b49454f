/*
 * nearest.h - finds the word that a mistyped word most likely means.
 */
#ifndef INGOT_CLI_USAGE_NEAREST_H
#define INGOT_CLI_USAGE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *text; /* the mistyped word */
    size_t size;
    const char *found; /* NULL: no word is near */
    size_t distance;   /* of `found` */
};

void nearest_init(struct nearest *nearest, size_t size, const char *text);
/* Compares the text with one more word, which must stay valid. */
void nearest_add(struct nearest *nearest, const char *word);

#endif

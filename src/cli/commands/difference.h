/*
 * difference.h - finds what differs between lists of texts, such as the options of programs with the same name.
 */
#ifndef INGOT_CLI_COMMANDS_DIFFERENCE_H
#define INGOT_CLI_COMMANDS_DIFFERENCE_H

#include <cjson/cJSON.h>

/* Adds the words of a text, which may be NULL, to a list. */
void difference_add_words(cJSON *list, const char *text);
/* Removes the items that the other list does not have. */
void difference_keep_common(cJSON *list, const cJSON *other);
/* Returns the items that are not common, separated by blanks, or NULL if there are none. The caller frees them.
 * `common` may be NULL. */
char *difference_from(const cJSON *list, const cJSON *common);

/* Returns a distance between 0 (two texts have the same words in any order) and 1 (they have no word in common). */
double difference_of_texts(const char *a, const char *b);

#endif

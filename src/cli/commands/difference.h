/*
 * difference.h - finds what differs between lists of items, such as the options of programs with the same name.
 *
 * A list is a text with one item per line.
 */
#ifndef INGOT_CLI_COMMANDS_DIFFERENCE_H
#define INGOT_CLI_COMMANDS_DIFFERENCE_H

/* Makes a list of the words of a text, which may be NULL, after the items of another list, which may be NULL and is
 * freed. The caller frees the result, which is NULL if there are no items. */
char *difference_add_words(char *list, const char *text);
/* Removes the items that the other list does not have. Each list may be NULL. */
void difference_keep_common(char *list, const char *other);
/* Returns the items that are not common, separated by blanks, or NULL if there are none. The caller frees them. */
char *difference_from(const char *list, const char *common);

/* Returns a distance between 0 (two texts have the same words in any order) and 1 (they have no word in common). */
double difference_of_texts(const char *a, const char *b);

#endif

/*
 * words.h - compares two texts as lists of words.
 */
#ifndef INGOT_CLI_COMMANDS_WORDS_H
#define INGOT_CLI_COMMANDS_WORDS_H

/* Returns a distance between 0 (the same words in any order) and 1 (no word in common). Blanks and line ends separate
 * words. */
double words_distance(const char *a, const char *b);

#endif

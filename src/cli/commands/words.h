/*
 * words.h - how far two texts are apart, as lists of words.
 */
#ifndef INGOT_CLI_COMMANDS_WORDS_H
#define INGOT_CLI_COMMANDS_WORDS_H

/* From 0, the same words in any order, to 1, none in common. Words are set apart by blanks and ends of lines. */
double words_distance(const char *a, const char *b);

#endif

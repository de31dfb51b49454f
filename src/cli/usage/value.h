/*
 * value.h - reads the values of options that are words or numbers, and says which values are valid.
 */
#ifndef INGOT_CLI_USAGE_VALUE_H
#define INGOT_CLI_USAGE_VALUE_H

#include "cli/usage/command.h"

enum { VALUE_EXPECTED_SIZE = 160 };

/* Reads a word or a quantity, and writes it to the member. Returns false if the value is not valid. */
bool value_read(const struct command_option *option, const char *text, void *member);
/* Says which values are valid: "fifo or lru". */
const char *value_expected(const struct command_option *option, char text[VALUE_EXPECTED_SIZE]);
/* Copies the word at an index in a list that is separated by blanks. Returns false if there are fewer words. */
bool value_get_word(const char *words, size_t index, size_t capacity, char *word);

#endif

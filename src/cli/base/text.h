/*
 * text.h - prints text from a store, which may contain anything, to a terminal.
 */
#ifndef INGOT_CLI_BASE_TEXT_H
#define INGOT_CLI_BASE_TEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The indent of a text that must begin no line: line ends and tabs become \n and \t. */
#define TEXT_ONE_LINE UINT_MAX

/* Prints to a stream. Characters that control the terminal or change the direction of text are escaped, as \x1b and
 * \u202e; after a line end, the next line begins with `indent` spaces. */
void text_put(FILE *stream, const char *text, unsigned indent);
/* True if `part` occurs in `text`, ignoring case. */
bool text_contains(const char *text, const char *part);
/* True if `text` ends in `end`. */
bool text_ends_in(const char *text, const char *end);
/* Returns the width of `text` in columns; every UTF-8 character counts as one. */
size_t text_width(const char *text);
/* Cuts a text that is wider; it then ends with "..". */
void text_cut(char *text, size_t width);
/* Appends `separator` and `more` to `text`, which it frees, and returns the new text. If `text` is NULL, returns a copy
 * of `more`. */
char *text_append(char *text, const char *separator, const char *more);

/* Returns the words of `text` that are also in `other`, or those that are not, separated by blanks; the caller frees
 * them. NULL if there are none. Both texts may be NULL. Adds the number of words to *count, unless it is NULL. */
char *text_select_words(const char *text, const char *other, bool is_in_other, size_t *count);

#endif

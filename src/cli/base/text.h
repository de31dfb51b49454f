/*
 * text.h - prints text from a store, which may contain anything, to a terminal.
 */
#ifndef INGOT_CLI_BASE_TEXT_H
#define INGOT_CLI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints to a stream. Characters that control the terminal or change the direction of text become '?'; after a
 * line end, the next line begins with `indent` spaces. */
void text_put(FILE *stream, const char *text, unsigned indent);
/* Returns a copy, which the caller frees. Escapes line ends and what text_put replaces: \n, \x1b, \u202e. */
char *text_in_one_line(const char *text);
/* True if `part` occurs in `text`, ignoring case. */
bool text_contains(const char *text, const char *part);
/* Returns the width of `text` in columns; every UTF-8 character counts as one. */
size_t text_width(const char *text);
/* Appends `separator` and `more` to `text`, which it frees, and returns the new text. If `text` is NULL, returns a copy
 * of `more`. */
char *text_append(char *text, const char *separator, const char *more);

#endif

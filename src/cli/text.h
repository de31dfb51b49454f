/*
 * text.h - text from a store, which may hold anything, on a terminal.
 */
#ifndef INGOT_CLI_TEXT_H
#define INGOT_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* To standard output. Characters that command the terminal or turn the direction of text become '?'; line ends begin a
 * new line with indent spaces. */
void text_print(const char *text, unsigned indent);
/* A copy, to be freed, in which those characters and line ends are escaped: \n, \x1b, \u202e. */
char *text_in_one_line(const char *text);
/* Whether part is in text, either case. */
bool text_contains(const char *text, const char *part);
/* Columns that text takes; every character of UTF-8 counts as one. */
size_t text_width(const char *text);
/* Appends to text, which is reallocated and may be NULL, with separator in between. */
char *text_append(char *text, const char *separator, const char *more);

#endif

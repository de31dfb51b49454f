/*
 * options.c - passes a program's options to libtcc; see options.h.
 *
 * Spaces separate words. Quotes protect spaces and are removed, as in Ingot.
 */
#include "options.h"

#include <stdlib.h>
#include <string.h>

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies the next word to `word`, which must have room for the whole text. Returns the rest of the text, or NULL if
 * there are no more words. */
static const char *next_word(const char *text, char *word)
{
    char quote = '\0';

    while (is_space(*text))
        ++text;
    if (*text == '\0')
        return NULL;
    for (; *text != '\0' && (quote != '\0' || !is_space(*text)); ++text) {
        if (quote == '\0' && (*text == '"' || *text == '\''))
            quote = *text;
        else if (quote != '\0' && *text == quote)
            quote = '\0';
        else
            *word++ = *text;
    }
    *word = '\0';
    return text;
}

static void define(TCCState *compiler, char *definition)
{
    char *value = strchr(definition, '=');

    if (value != NULL)
        *value++ = '\0';
    tcc_define_symbol(compiler, definition, value != NULL ? value : "1");
}

/* Applies -I, -D or -U. `value` is the rest of the option or the next word. */
static ingot_status_t apply(TCCState *compiler, char kind, char *value)
{
    if (*value == '\0')
        return ingot_set_error_detail(INGOT_BUILD_FAILED, "-%c has no value", kind);
    if (kind == 'I')
        tcc_add_include_path(compiler, value);
    else if (kind == 'D')
        define(compiler, value);
    else
        tcc_undefine_symbol(compiler, value);
    return INGOT_SUCCESS;
}

ingot_status_t options_apply(TCCState *compiler, const char *options)
{
    ingot_status_t status = INGOT_SUCCESS;
    char *word = malloc(strlen(options) + 1);

    if (word == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the options");
    while (status == INGOT_SUCCESS && (options = next_word(options, word)) != NULL) {
        if (word[0] == '-' && strchr("OWg", word[1]) != NULL && word[1] != '\0')
            continue;
        if (word[0] != '-' || word[1] == '\0' || strchr("IDU", word[1]) == NULL) {
            status = ingot_set_error_detail(INGOT_BUILD_FAILED, "unknown option '%s'", word);
            break;
        }
        const char kind = word[1];
        char *value = word + 2;
        if (*value == '\0') {
            const char *rest = next_word(options, word);
            value = word;
            if (rest == NULL)
                *value = '\0';
            else
                options = rest;
        }
        status = apply(compiler, kind, value);
    }
    free(word);
    return status;
}

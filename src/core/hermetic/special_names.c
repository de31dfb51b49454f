/*
 * special_names.c - finds names such as __TIME__ and __FILE__, whose meaning depends on more than the texts.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

bool name_is_ascii(const struct token *token)
{
    for (size_t i = 0; i < token->size; ++i) {
        if ((unsigned char)token->start[i] >= 0x80)
            return false;
    }
    return true;
}

const char *const name_not_ascii = "a name with characters other than ASCII";

static const struct {
    const char *name;
    size_t size;
    enum special special;
} special_names[] = {
    {"__DATE__", 8, SPECIAL_TIME},
    {"__TIME__", 8, SPECIAL_TIME},
    {"__TIMESTAMP__", 13, SPECIAL_TIME},
    {"__FILE__", 8, SPECIAL_FILE},
    {"__BASE_FILE__", 13, SPECIAL_FILE},
    {"__FILE_NAME__", 13, SPECIAL_FILE},
    {"__builtin_FILE", 14, SPECIAL_FILE},
    {"__builtin_FILE_NAME", 19, SPECIAL_FILE},
    {"__builtin_source_location", 25, SPECIAL_FILE},
    {"__INCLUDE_LEVEL__", 17, SPECIAL_LEVEL},
    {"_Pragma", 7, SPECIAL_PRAGMA},
    {"__pragma", 8, SPECIAL_PRAGMA},
    {"__has_include", 13, SPECIAL_HAS_INCLUDE},
    {"__has_include_next", 18, SPECIAL_UNFOLLOWED},
    {"__has_embed", 11, SPECIAL_UNFOLLOWED},
};

enum special name_special(const struct token *token, const char **name)
{
    if (token->size < 7 || token->start[0] != '_')
        return NOT_SPECIAL;
    for (size_t i = 0; i < sizeof(special_names) / sizeof(special_names[0]); ++i) {
        if (token->size == special_names[i].size && memcmp(token->start, special_names[i].name, token->size) == 0) {
            *name = special_names[i].name;
            return special_names[i].special;
        }
    }
    return NOT_SPECIAL;
}

bool name_has_pragma_word(size_t size, const char *text)
{
    static const char *const words[] = {"once",       "dependency", "module",       "include_alias",
                                        "push_macro", "pop_macro",  "system_header"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        if (memmem(text, size, words[i], strlen(words[i])) != NULL)
            return true;
    }
    return false;
}

bool text_scan_definition(struct source_graph *graph, size_t size, const char *value, const char **name)
{
    const struct clean_text clean = {.start = value, .size = size};
    struct scanner scanner;
    struct token token;
    scanner_init(&scanner, &clean, value, false);
    for (scanner_next(&scanner, &token); token.kind != TOKEN_END; scanner_next(&scanner, &token)) {
        const char *found = NULL;
        const enum special special = token.kind == TOKEN_IDENTIFIER ? name_special(&token, &found) : NOT_SPECIAL;
        if (token.kind == TOKEN_IDENTIFIER && !name_is_ascii(&token)) {
            *name = name_not_ascii;
            return false;
        }
        if (special == NOT_SPECIAL || (special == SPECIAL_PRAGMA && !name_has_pragma_word(size, value)))
            continue;
        if (special == SPECIAL_FILE) {
            graph->names_matter = true;
            continue;
        }
        *name = found;
        return false;
    }
    return true;
}

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

const char *name_special_at(size_t position, enum special *special)
{
    if (position >= sizeof(special_names) / sizeof(special_names[0]))
        return NULL;
    *special = special_names[position].special;
    return special_names[position].name;
}

bool name_is_beginning(size_t size, const char *text)
{
    if (size == 0 || text[0] != '_')
        return false;
    for (size_t i = 0; i < sizeof(special_names) / sizeof(special_names[0]); ++i) {
        if (size < special_names[i].size && memcmp(text, special_names[i].name, size) == 0)
            return true;
    }
    return false;
}

bool name_is_asm(const struct token *token)
{
    return token_is(token, "asm") || token_is(token, "__asm") || token_is(token, "__asm__");
}

/* ---- _Pragma ---- */

/* True for a literal without a prefix, whose backslashes only escape quotes and backslashes. */
static bool is_plain_literal(const struct token *token)
{
    if (token->kind != TOKEN_STRING || token->start[0] != '"')
        return false;
    for (size_t i = 1; i + 1 < token->size; ++i) {
        if (token->start[i] != '\\')
            continue;
        ++i;
        if (token->start[i] != '"' && token->start[i] != '\\')
            return false;
    }
    return true;
}

bool pragma_is_harmless(const struct scanner *scanner)
{
    static const char *const words[] = {"once",       "dependency", "module",       "include_alias",
                                        "push_macro", "pop_macro",  "system_header"};
    struct scanner ahead = *scanner;
    struct token literal;
    struct token token;
    scanner_next(&ahead, &token);
    scanner_next(&ahead, &literal);
    if (!token_is(&token, "(") || !is_plain_literal(&literal))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        if (memmem(literal.start, literal.size, words[i], strlen(words[i])) != NULL)
            return false;
    }
    scanner_next(&ahead, &token);
    return token_is(&token, ")");
}

/* ---- options ---- */

/* Returns what prevents an id, if the token does, or NULL. */
static const char *problem_of_token(struct source_graph *graph, const struct scanner *scanner,
                                    const struct token *token)
{
    const char *name = NULL;
    const enum special special = name_special(token, &name);
    graph->has_beginning = graph->has_beginning || name_is_beginning(token->size, token->start);
    graph->names_matter = graph->names_matter || special == SPECIAL_FILE;
    if (!name_is_ascii(token))
        return name_not_ascii;
    if (graph->input->rules->assembler_reads_files && name_is_asm(token))
        return "asm";
    if (special == SPECIAL_FILE || (special == SPECIAL_PRAGMA && pragma_is_harmless(scanner)))
        return NULL;
    return name;
}

bool text_scan_definition(struct source_graph *graph, size_t size, const char *value, const char **name)
{
    struct definition *definition = arena_take(&graph->arena, sizeof(*definition));
    if (definition == NULL)
        return true;
    *definition = (struct definition){graph->definitions, {.start = value, .size = size}};
    graph->definitions = definition;
    const char *problem = memmem(value, size, "?\?", 2) != NULL ? "what may be a trigraph" : NULL;
    struct scanner scanner;
    struct token token;
    scanner_init(&scanner, &definition->text, value, false);
    for (scanner_next(&scanner, &token); token.kind != TOKEN_END && problem == NULL; scanner_next(&scanner, &token)) {
        if (token.kind == TOKEN_IDENTIFIER)
            problem = problem_of_token(graph, &scanner, &token);
    }
    graph->has_paste = graph->has_paste || scanner.has_paste;
    if (problem == NULL)
        problem = scanner.problem;
    if (problem != NULL)
        *name = problem;
    return problem == NULL;
}

/*
 * options.c - option strings taken apart; see options.h.
 */
#include "core/include_closure/options.h"

#include <string.h>

#include "core/bytes.h"
#include "core/include_closure/include_closure.h"

struct word {
    const char *start;
    size_t size;
};

struct option_name {
    const char *text;
    enum option_kind kind;
    bool joined;   /* the value follows directly */
    bool separate; /* or is the next word */
};

/* A longer name before its own beginning. */
static const struct option_name option_names[] = {
    {"--include-path=", OPTION_DIRECTORY, true, false},
    {"--include-path", OPTION_DIRECTORY, false, true},
    {"--include-directory=", OPTION_DIRECTORY, true, false},
    {"--include-directory", OPTION_DIRECTORY, false, true},
    {"--define-macro=", OPTION_DEFINE, true, false},
    {"--define-macro", OPTION_DEFINE, false, true},
    {"--undefine-macro=", OPTION_UNDEFINE, true, false},
    {"--undefine-macro", OPTION_UNDEFINE, false, true},
    {"--pre-include=", OPTION_INCLUDE, true, false},
    {"--pre-include", OPTION_INCLUDE, false, true},
    {"--include=", OPTION_INCLUDE, true, false},
    {"--include", OPTION_INCLUDE, false, true},
    {"-include-pch", OPTION_UNFOLLOWED, true, true},
    {"-include=", OPTION_INCLUDE, true, false},
    {"-include", OPTION_INCLUDE, true, true},
    {"-imacros", OPTION_UNFOLLOWED, true, true},
    {"-isystem", OPTION_UNFOLLOWED, true, true},
    {"-iquote", OPTION_UNFOLLOWED, true, true},
    {"-idirafter", OPTION_UNFOLLOWED, true, true},
    {"-isysroot", OPTION_UNFOLLOWED, true, true},
    {"-iprefix", OPTION_UNFOLLOWED, true, true},
    {"-iwithprefix", OPTION_UNFOLLOWED, true, true},
    {"-internal-isystem", OPTION_UNFOLLOWED, true, true},
    {"-internal-externc-isystem", OPTION_UNFOLLOWED, true, true},
    {"-ivfsoverlay", OPTION_UNFOLLOWED, true, true},
    {"-fmodule", OPTION_UNFOLLOWED, true, false},
    {"--sysroot", OPTION_UNFOLLOWED, true, true},
    {"--options-file", OPTION_UNFOLLOWED, true, true},
    {"-optf", OPTION_UNFOLLOWED, true, true},
    {"--use-pch", OPTION_UNFOLLOWED, true, false},
    {"-use-pch", OPTION_UNFOLLOWED, true, false},
    {"-Xclang", OPTION_UNFOLLOWED, true, true},
    {"-Xpreprocessor", OPTION_UNFOLLOWED, true, true},
    {"-Wp,", OPTION_UNFOLLOWED, true, false},
    {"@", OPTION_UNFOLLOWED, true, false},
    {"-I-", OPTION_UNFOLLOWED, false, false},
    {"-I", OPTION_DIRECTORY, true, true},
    {"-D", OPTION_DEFINE, true, true},
    {"-U", OPTION_UNDEFINE, true, true},
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool next_word(const char **at, struct word *word)
{
    const char *p = *at;
    while (is_blank(*p))
        ++p;
    word->start = p;
    char quote = 0;
    for (; *p != 0 && (quote != 0 || !is_blank(*p)); ++p) {
        if (*p == '\\' && p[1] != 0 && quote != '\'')
            ++p;
        else if (quote != 0 && *p == quote)
            quote = 0;
        else if (quote == 0 && (*p == '"' || *p == '\''))
            quote = *p;
    }
    word->size = (size_t)(p - word->start);
    *at = p;
    return word->size != 0;
}

static char *unquote(struct arena *arena, size_t size, const char *text)
{
    char *out = arena_take(arena, size + 1);
    char quote = 0;
    for (size_t i = 0, n = 0; out != NULL && i < size; ++i) {
        if (text[i] == '\\' && i + 1 < size && quote != '\'')
            out[n++] = text[++i];
        else if (quote != 0 ? text[i] == quote : text[i] == '"' || text[i] == '\'')
            quote = quote != 0 ? 0 : text[i];
        else
            out[n++] = text[i];
    }
    return out;
}

static const struct option_name *find_name(const char *unquoted)
{
    for (size_t i = 0; i < sizeof(option_names) / sizeof(option_names[0]); ++i) {
        const size_t length = strlen(option_names[i].text);
        if (strncmp(unquoted, option_names[i].text, length) != 0)
            continue;
        if (unquoted[length] == 0 || option_names[i].joined)
            return &option_names[i];
    }
    return NULL;
}

/* A compiler without quotes would see a further option inside such a word: `-I"a -DX"`. */
static bool hides_an_option(size_t size, const char *text)
{
    for (size_t i = 0; i + 1 < size; ++i) {
        if (is_blank(text[i]) && (text[i + 1] == '-' || text[i + 1] == '"' || text[i + 1] == '\''))
            return true;
    }
    return false;
}

/* The value as written begins where the name ends, wherever quotes stand. */
static const char *raw_joined_value(struct arena *arena, const struct word *word, const char *name, const char *value)
{
    const size_t length = strlen(name);
    if (word->size >= length && memcmp(word->start, name, length) == 0)
        return arena_copy(arena, word->size - length, word->start + length);
    return value;
}

static void read_value(struct arena *arena, struct option *option, const struct option_name *name,
                       const struct word *word, const char *unquoted, const char **at)
{
    const size_t length = strlen(name->text);
    option->kind = name->kind;
    option->size = word->size;
    if (unquoted[length] != 0 || !name->separate) {
        option->value = unquoted + length;
        option->raw_value = raw_joined_value(arena, word, name->text, option->value);
        option->removable = strcmp(name->text, "-I") == 0 && unquoted[length] != 0;
    } else {
        const char *after = *at;
        struct word next;
        /* `-I -DX` is a mistake that compilers read differently: the second word stays an option. */
        if (!next_word(&after, &next) || (name->kind == OPTION_DIRECTORY && next.start[0] == '-')) {
            option->kind = OPTION_OTHER;
            return;
        }
        *at = after;
        option->value = unquote(arena, next.size, next.start);
        option->raw_value = arena_copy(arena, next.size, next.start);
        option->size = (size_t)(next.start + next.size - option->start);
        option->removable = strcmp(name->text, "-I") == 0 && !hides_an_option(next.size, next.start);
    }
    if (hides_an_option(word->size, word->start))
        option->removable = false;
    if (name->kind == OPTION_UNFOLLOWED)
        option->value = unquoted;
}

struct option *options_parse(struct arena *arena, const char *options)
{
    struct option *first = NULL;
    struct option **last = &first;
    const char *at = options;
    struct word word;
    while (next_word(&at, &word)) {
        struct option *option = arena_take(arena, sizeof(*option));
        const char *unquoted = unquote(arena, word.size, word.start);
        if (option == NULL || unquoted == NULL)
            return NULL;
        option->start = word.start;
        option->size = word.size;
        option->value = option->raw_value = unquoted;
        const struct option_name *name = find_name(unquoted);
        if (name != NULL)
            read_value(arena, option, name, &word, unquoted, &at);
        *last = option;
        last = &option->next;
    }
    return arena->failed ? NULL : first;
}

static void copy_without_paths(struct bytes_writer *kept, const struct option *option, const char *options)
{
    const char *from = options;
    for (; option != NULL; option = option->next) {
        if (!option->removable)
            continue;
        const char *end = option->start + option->size;
        bytes_put(kept, (size_t)(option->start - from), from);
        while (is_blank(*end))
            ++end;
        from = end;
        while (*end == 0 && kept->size != 0 && is_blank((char)kept->bytes[kept->size - 1]))
            --kept->size;
    }
    bytes_put_text(kept, from);
}

ingot_status_t options_without_paths(const ingot_allocator_t *allocator, const char *options, char **result)
{
    struct arena arena;
    struct bytes_writer kept;
    arena_init(&arena, allocator);
    bytes_writer_init(&kept, allocator);

    const struct option *first = options_parse(&arena, options);
    if (!arena.failed)
        copy_without_paths(&kept, first, options);
    bytes_put(&kept, 1, "");
    char *text = arena.failed || kept.failed ? NULL : alloc_text(allocator, (const char *)kept.bytes);

    bytes_writer_fini(&kept);
    arena_fini(&arena);
    if (text == NULL)
        return INGOT_OUT_OF_MEMORY;
    *result = text;
    return INGOT_SUCCESS;
}

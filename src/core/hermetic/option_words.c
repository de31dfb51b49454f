/*
 * option_words.c - parses strings of options; see option_words.h.
 */
#include "core/hermetic/option_words.h"

#include <string.h>

/* ---- words ---- */

struct word {
    const char *start; /* as written */
    size_t size;
    const char *text; /* as the compiler sees the word, if that is certain */
    size_t text_size;
    bool has_quotes;
    const char *problem;
};

/* True for a blank. False for a tab, which separates words for PoCL and Intel but is part of a word for NVIDIA. */
static bool is_space_character(char c)
{
    return c == ' ';
}

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *const odd_character = "with a control character, which compilers read differently";
static const char *const odd_quotes = "with quotes or a backslash, which compilers read differently";

/* Returns the end of a word. If compilers may disagree about that end, because quotes are not balanced or a
 * backslash escapes the blank, sets the word's problem. */
static const char *agreed_word_end(const char *from, bool may_group, struct word *word)
{
    const char *p = from;
    size_t doubles = 0;
    size_t singles = 0;
    for (; *p != 0 && (!is_space_character(*p) || (may_group && doubles % 2 != 0)); ++p) {
        doubles += *p == '"';
        singles += *p == '\'';
        word->has_quotes = word->has_quotes || *p == '"' || *p == '\'' || *p == '\\';
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            word->problem = odd_character;
    }
    if (doubles % 2 != 0 || singles % 2 != 0 || (p != from && p[-1] == '\\'))
        word->problem = odd_quotes;
    return p;
}

/* Returns the end of a word as a shell reads it: both kinds of quotes group, and a backslash escapes the next
 * character. *size is the word's size without quotes and backslashes. Writes the word to `out` unless that is NULL. */
static const char *shell_word_end(const char *from, char *out, size_t *size, struct word *word)
{
    const char *p = from;
    char quote = 0;
    for (*size = 0; *p != 0 && (quote != 0 || !is_white(*p)); ++p) {
        char c = *p;
        const bool is_quote = c == '"' || c == '\'';
        word->has_quotes = word->has_quotes || is_quote || c == '\\';
        if (c == '\\' && p[1] != 0 && quote != '\'') {
            c = *++p;
        } else if (quote != 0 ? c == quote : is_quote) {
            quote = quote != 0 ? 0 : c;
            continue;
        }
        if (out != NULL)
            out[*size] = c;
        ++*size;
    }
    if (quote != 0)
        word->problem = odd_quotes;
    return p;
}

static bool next_word(struct option_reader *reader, struct word *word)
{
    const bool is_shell = reader->rules->option_quotes == INGOT_QUOTES_SHELL;
    while (*reader->at != 0 && (is_shell ? is_white(*reader->at) : is_space_character(*reader->at)))
        ++reader->at;
    *word = (struct word){.start = reader->at, .text = reader->at};
    if (*reader->at == 0)
        return false;
    if (is_shell) {
        size_t size = 0;
        reader->at = shell_word_end(word->start, NULL, &size, word);
        word->size = (size_t)(reader->at - word->start);
        word->text_size = size;
        if (!word->has_quotes)
            return true;
        char *text = arena_take(reader->arena, size + 1);
        if (text == NULL)
            return false;
        (void)shell_word_end(word->start, text, &size, word);
        word->text = text;
        if (size == 0)
            word->problem = odd_quotes; /* compilers drop an empty word, so an option before it would take the next word
                                         * as its value */
        return true;
    }
    reader->at = agreed_word_end(word->start, reader->rules->option_quotes == INGOT_QUOTES_DOUBLE, word);
    word->size = word->text_size = (size_t)(reader->at - word->start);
    return true;
}

/* ---- options ---- */

struct name {
    const char *text;
    enum option_kind kind;
    bool joined;   /* the value may follow in the same word */
    bool separate; /* the value may be the next word */
};

/* A name comes before all names that are prefixes of it. */
static const struct name names[] = {
    {"--include-path=", OPTION_DIRECTORY, true, false},
    {"--include-path", OPTION_DIRECTORY, false, true},
    {"--define-macro=", OPTION_DEFINE, true, false},
    {"--define-macro", OPTION_DEFINE, false, true},
    {"--undefine-macro=", OPTION_UNDEFINE, true, false},
    {"--undefine-macro", OPTION_UNDEFINE, false, true},
    {"-I", OPTION_DIRECTORY, true, true},
    {"-D", OPTION_DEFINE, true, true},
    {"-U", OPTION_UNDEFINE, true, true},
};

static bool is_in(const struct word *word, const char *const *patterns)
{
    for (; patterns != NULL && *patterns != NULL; ++patterns) {
        const size_t length = strlen(*patterns);
        const bool is_beginning = length != 0 && (*patterns)[length - 1] == '*';
        if (is_beginning ? word->text_size >= length - 1 && memcmp(word->text, *patterns, length - 1) == 0
                         : word->text_size == length && memcmp(word->text, *patterns, length) == 0)
            return true;
    }
    return false;
}

/* Finds the option's name, or returns NULL. A long name counts only if the compiler's rules list it: OpenCL compilers
 * reject all of them, and clang reads --include-path=x as -include "-path=x". */
static const struct name *find_name(const struct word *word, const ingot_text_rules_t *rules)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const size_t length = strlen(names[i].text);
        const struct word listed = {.text = names[i].text, .text_size = strcspn(names[i].text, "=")};
        if (word->text_size < length || memcmp(word->text, names[i].text, length) != 0)
            continue;
        if (names[i].text[1] == '-' && !is_in(&listed, rules->options))
            continue;
        if (word->text_size == length ? names[i].separate : names[i].joined)
            return &names[i];
    }
    return NULL;
}

static void mark_option_unknown(struct option *option, const char *problem)
{
    option->kind = OPTION_UNKNOWN;
    option->problem = problem;
}

/* Removes the quotes of a value such as "dir", if they have the form that all compilers read as dir. */
static bool take_off_quotes(struct option *option)
{
    const char *value = option->value;
    const size_t size = option->value_size;
    if (size < 3 || value[0] != '"' || value[size - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < size; ++i) {
        if (value[i] == '"' || value[i] == '\'' || value[i] == '\\')
            return false;
    }
    ++option->value;
    option->value_size -= 2;
    return true;
}

static void read_option_value(struct option_reader *reader, const struct name *name, const struct word *word,
                              struct option *option)
{
    const size_t length = strlen(name->text);
    option->kind = name->kind;
    option->has_quotes = word->has_quotes;
    option->value = word->text + length;
    option->value_size = word->text_size - length;
    if (option->value_size == 0) {
        struct word next;
        if (!next_word(reader, &next) || next.problem != NULL || next.text[0] == '-') {
            mark_option_unknown(option, "without a plain value");
            return;
        }
        option->value = next.text;
        option->value_size = next.text_size;
        option->has_quotes = option->has_quotes || next.has_quotes;
        option->size = (size_t)(next.start + next.size - option->start);
    }
    if (option->kind == OPTION_DIRECTORY) {
        static const char *const not_plain = "whose directory compilers may read differently";
        if (option->has_quotes && reader->rules->option_quotes == INGOT_QUOTES_DOUBLE && take_off_quotes(option))
            option->has_quotes = false;
        const char first = option->value_size != 0 ? option->value[0] : 0;
        if (first == 0 || first == '-' || first == '=' || first == ' ' || option->value[option->value_size - 1] == ' ')
            mark_option_unknown(option, not_plain); /* NVRTC, for example, removes trailing blanks */
        for (size_t i = 0; i < option->value_size; ++i) {
            const unsigned char c = (unsigned char)option->value[i];
            if (c < ' ' || c == 0x7f || c == '"' || c == '\'' || c == '\\')
                mark_option_unknown(option, not_plain);
        }
        if (option->has_quotes && reader->rules->option_quotes != INGOT_QUOTES_SHELL)
            mark_option_unknown(option, not_plain);
        /* hipRTC takes --offload-arch= for an architecture wherever it stands in a word. */
        if (memmem(option->value, option->value_size, "arch=", 5) != NULL)
            mark_option_unknown(option, not_plain);
    }
}

bool option_next(struct option_reader *reader, struct option *option)
{
    struct word word;
    if (!next_word(reader, &word))
        return false;
    *option = (struct option){.start = word.start, .size = word.size, .value = word.text, .value_size = word.text_size};
    struct word next;
    const struct name *name = find_name(&word, reader->rules);
    if (word.problem != NULL) {
        mark_option_unknown(option, word.problem);
    } else if (name != NULL) {
        read_option_value(reader, name, &word, option);
    } else if (is_in(&word, reader->rules->options_with_value)) {
        if (!next_word(reader, &next) || next.problem != NULL || next.has_quotes || next.text[0] == '-')
            mark_option_unknown(option, "without a plain value");
        else
            option->size = (size_t)(next.start + next.size - option->start);
    } else if (word.has_quotes || !is_in(&word, reader->rules->options)) {
        mark_option_unknown(option, "which might read a file");
    }
    return !reader->arena->failed;
}

/* ---- surveys ---- */

bool option_keeps_names(const struct option *option)
{
    /* and the options that begin like these, such as -gline-tables-only */
    static const char *const names_of_options[] = {"-g",   "-G", "-lineinfo", "--generate-line-info", "--device-debug",
                                                   "-dopt"};
    bool is_one = false;
    for (size_t i = 0; i < sizeof(names_of_options) / sizeof(names_of_options[0]); ++i) {
        const size_t size = strlen(names_of_options[i]);
        is_one = is_one || (option->size >= size && memcmp(option->start, names_of_options[i], size) == 0);
    }
    return is_one && option->kind == OPTION_PLAIN;
}

bool option_has_assert(const struct option *option)
{
    return option->kind == OPTION_DEFINE && memmem(option->value, option->value_size, "assert", 6) != NULL;
}

/* True if the definition of an option may contain a special name (special_names.c), assert, asm or ##. */
static bool may_compose_name(const struct option *option)
{
    static const char *const parts[] = {"__", "#", "%:", "?\?", "assert", "asm", "ragma"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        if (memmem(option->value, option->value_size, parts[i], strlen(parts[i])) != NULL)
            return true;
    }
    return false;
}

void option_survey_add(struct option_survey *survey, const ingot_text_rules_t *rules, struct arena *arena,
                       const char *options)
{
    struct option_reader reader = {rules, arena, options};
    struct option option;
    while (option_next(&reader, &option)) {
        survey->has_directory = survey->has_directory || option.kind == OPTION_DIRECTORY;
        if (option.kind == OPTION_DEFINE && (option.has_quotes || may_compose_name(&option)))
            survey->defines_special_name = true;
        survey->keeps_names = survey->keeps_names || option_keeps_names(&option);
        if (option.kind == OPTION_UNKNOWN && survey->unknown.kind != OPTION_UNKNOWN)
            survey->unknown = option;
    }
}

void options_keep(struct bytes_writer *kept, const ingot_text_rules_t *rules, struct arena *arena, const char *options)
{
    struct option_reader reader = {rules, arena, options};
    struct option option;
    const char *from = options;
    while (option_next(&reader, &option)) {
        if (option.kind == OPTION_DIRECTORY) {
            const char *end = option.start + option.size;
            bytes_put(kept, (size_t)(option.start - from), from);
            while (is_white(*end))
                ++end;
            from = end;
            while (*end == 0 && kept->size != 0 && is_white((char)kept->bytes[kept->size - 1]))
                --kept->size;
        }
    }
    bytes_put_text(kept, from);
}

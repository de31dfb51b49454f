/*
 * text_scanner.c - removes splices and reads tokens; see text_scanner.h.
 */
#include "core/hermetic/text/text_scanner.h"

#include <string.h>

/* ---- splices ---- */

static bool is_blank_in_line(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

size_t text_count_lines(const char *from, const char *to)
{
    size_t lines = 0;
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        ++lines;
        ++from;
    }
    return lines;
}

/* Returns the first splice at or after `from`, or NULL. There may be blanks between its backslash and line feed. */
static const char *find_splice(const char *from, const char *end, size_t *length)
{
    while (from < end && (from = memchr(from, '\\', (size_t)(end - from))) != NULL) {
        const char *p = from + 1;
        while (p < end && is_blank_in_line(*p))
            ++p;
        *length = p < end && *p == '\n' ? (size_t)(p + 1 - from) : 0;
        if (*length != 0)
            return from;
        ++from;
    }
    return NULL;
}

static const char *find_lone_return(const char *from, const char *end)
{
    while (from < end && (from = memchr(from, '\r', (size_t)(end - from))) != NULL) {
        if (from + 1 == end || from[1] != '\n')
            return from;
        ++from;
    }
    return NULL;
}

static const char *find_trigraph(const char *from, const char *end)
{
    /* memchr and not memmem, which takes ten times as long: question marks are rare */
    while (from < end && (from = memchr(from, '?', (size_t)(end - from))) != NULL) {
        if (end - from > 2 && from[1] == '?' && (from[2] == '/' || from[2] == '='))
            return from;
        ++from;
    }
    return NULL;
}

static const char *find_problem(const struct clean_text *text, const char **at, size_t *splices)
{
    const char *end = text->start + text->size;
    size_t length = 0;
    if ((*at = memchr(text->start, '\0', text->size)) != NULL)
        return "a NUL byte";
    if ((*at = find_lone_return(text->start, end)) != NULL)
        return "a carriage return without a line feed";
    if ((*at = find_trigraph(text->start, end)) != NULL)
        return "a trigraph";
    /* a backslash at the end of the text would join its last line to whatever follows the text */
    *at = end;
    while (*at > text->start && (is_blank_in_line((*at)[-1]) || (*at)[-1] == '\n'))
        --*at;
    if (*at > text->start && *--*at == '\\')
        return "a backslash at its end";
    const char *from = text->start;
    const char *splice;
    bool commented = false; /* true if the lines that are joined so far may contain a // comment */
    for (*splices = 0; (splice = find_splice(from, end, &length)) != NULL; from = splice + length) {
        const char *line_end = memrchr(from, '\n', (size_t)(splice - from));
        if (line_end != NULL) {
            from = line_end + 1;
            commented = false;
        }
        commented = commented || memmem(from, (size_t)(splice - from), "//", 2) != NULL;
        ++*splices;
        *at = splice;
        /* Compilers may disagree about a splice whose backslash is followed by blanks, and that is next to a directive
         * or a comment. */
        const char *next = splice + length;
        const bool spaced = next - splice > 3 || (next - splice == 3 && next[-2] != '\r');
        while (next < end && is_blank_in_line(*next))
            ++next;
        if (spaced && (commented || (next < end && (*next == '#' || *next == '%'))))
            return "blanks after a backslash at the end of a line";
    }
    return NULL;
}

const char *text_clean(struct arena *arena, struct clean_text *clean, size_t size, const char *bytes, size_t *line)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (size >= 3 && memcmp(bytes, byte_order_mark, 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    *clean = (struct clean_text){.start = bytes, .size = size, .raw = bytes, .raw_size = size};
    const char *at = bytes;
    size_t splices = 0;
    const char *problem = find_problem(clean, &at, &splices);
    if (problem != NULL)
        *line = 1 + text_count_lines(bytes, at);
    if (problem != NULL || splices == 0)
        return problem;

    char *out = arena_take(arena, size);
    clean->splices = arena_take(arena, splices * sizeof(size_t));
    clean->resumes = arena_take(arena, splices * sizeof(size_t));
    if (out == NULL || clean->splices == NULL || clean->resumes == NULL) {
        *clean = (struct clean_text){.start = bytes, .raw = bytes}; /* the caller checks arena->failed */
    } else {
        /* joins the lines */
        const char *end = clean->start + clean->size;
        const char *from = clean->start;
        const char *splice;
        size_t length = 0;
        size_t out_size = 0;
        clean->splice_count = 0;
        while ((splice = find_splice(from, end, &length)) != NULL) {
            memcpy(out + out_size, from, (size_t)(splice - from));
            out_size += (size_t)(splice - from);
            from = splice + length;
            clean->resumes[clean->splice_count] = (size_t)(from - clean->start);
            clean->splices[clean->splice_count++] = out_size;
        }
        memcpy(out + out_size, from, (size_t)(end - from));
        clean->start = out;
        clean->size = out_size + (size_t)(end - from);
    }
    return NULL;
}

size_t text_line(const struct clean_text *clean, const char *at)
{
    size_t line = 1 + text_count_lines(clean->start, at);
    for (size_t i = 0; i < clean->splice_count && clean->splices[i] <= (size_t)(at - clean->start); ++i)
        ++line;
    return line;
}

/* Returns the number of splices at or before an offset in `start`. */
static size_t splices_until(const struct clean_text *clean, size_t offset)
{
    size_t low = 0;
    size_t high = clean->splice_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (clean->splices[middle] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool text_is_on_two_lines(const struct clean_text *clean, const char *from, const char *to)
{
    return memchr(from, '\n', (size_t)(to - from)) != NULL ||
           splices_until(clean, (size_t)(from - clean->start)) != splices_until(clean, (size_t)(to - clean->start));
}

size_t text_raw_offset(const struct clean_text *clean, size_t offset)
{
    const size_t count = splices_until(clean, offset);
    return count == 0 ? offset : clean->resumes[count - 1] + (offset - clean->splices[count - 1]);
}

/* ---- tokens ---- */

/* A character that may begin something that must be read, so scanner_skip_plain_lines stops at its line. A table,
 * because that function looks at almost every character of a text. */
static const bool is_telling[256] = {
    ['\n'] = true, ['#'] = true, ['%'] = true, ['/'] = true, ['"'] = true, ['\''] = true, ['_'] = true,
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* True for letters, digits, '_', '$' and whatever is not ASCII. A bit for each character, because that takes less time
 * than comparisons. */
static bool in_name(char c)
{
    static const uint32_t bits[8] = {0, 0x3ff0010, 0x87fffffe, 0x7fffffe, ~0u, ~0u, ~0u, ~0u};
    const unsigned char byte = (unsigned char)c;
    return (bits[byte / 32] >> byte % 32 & 1) != 0;
}

size_t text_name_length(size_t size, const char *text)
{
    size_t length = 0;
    while (length < size && in_name(text[length]))
        ++length;
    return length;
}

void scanner_init(struct scanner *scanner, const struct clean_text *text, const char *from, bool cplusplus)
{
    *scanner = (struct scanner){.text = text, .at = from, .end = text->start + text->size, .cplusplus = cplusplus};
}

static char peek_character(const struct scanner *scanner, size_t ahead)
{
    return (size_t)(scanner->end - scanner->at) > ahead ? scanner->at[ahead] : 0;
}

static void count_steps(const struct scanner *scanner, const char *from, const char *to)
{
    if (scanner->steps != NULL)
        *scanner->steps += (size_t)(to - from);
}

static bool has_comment_begin(const char *from, const char *to)
{
    for (; from + 1 < to; ++from) {
        if (from[0] == '/' && (from[1] == '*' || from[1] == '/'))
            return true;
    }
    return false;
}

bool scanner_skip_space(struct scanner *scanner)
{
    const char *from = scanner->at;
    while (scanner->at < scanner->end) {
        char c = *scanner->at;
        if (c == '\0' || is_blank_in_line(c)) {
            ++scanner->at;
        } else if (*scanner->at == '/' && peek_character(scanner, 1) == '*') {
            const size_t left = (size_t)(scanner->end - scanner->at) - 2;
            const char *close = memmem(scanner->at + 2, left, "*/", 2);
            if (close == NULL)
                scanner->is_in_comment = true;
            scanner->at = close != NULL ? close + 2 : scanner->end;
        } else if (*scanner->at == '/' && peek_character(scanner, 1) == '/') {
            const char *line_end = memchr(scanner->at, '\n', (size_t)(scanner->end - scanner->at));
            scanner->at = line_end != NULL ? line_end : scanner->end;
        } else {
            break;
        }
    }
    return scanner->at != from;
}

/* Reads a literal. If it is not closed on its line, some compilers read it up to the end of the line, and others
 * read only its quote. */
static enum token_kind scan_literal(struct scanner *scanner)
{
    const char quote = *scanner->at;
    /* Inside the part of the line after an unclosed quote, each further quote of its kind follows a backslash and is
     * unclosed, too. */
    struct open_quotes *open = quote == '"' ? &scanner->open_double : &scanner->open_single;
    if (open->to != NULL && scanner->at >= open->from && scanner->at < open->to) {
        ++scanner->at;
        return TOKEN_OTHER;
    }
    const char *p = scanner->at + 1;
    while (p < scanner->end && *p != quote && *p != '\n')
        p += *p == '\\' && p + 1 < scanner->end && p[1] != '\n' ? 2 : 1;
    if (p < scanner->end && *p == quote) {
        scanner->at = p + 1;
        return quote == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
    }
    count_steps(scanner, scanner->at, p);
    if (has_comment_begin(scanner->at, p))
        scanner->problem = "a comment after a quote that is not closed";
    *open = (struct open_quotes){scanner->at, p};
    ++scanner->at;
    return TOKEN_OTHER;
}

/* True if lines were joined between two places, or at one of them. */
static bool has_splice(const struct clean_text *text, const char *from, const char *to)
{
    const size_t first = (size_t)(from - text->start);
    const size_t before = first != 0 ? splices_until(text, first - 1) : 0;
    return splices_until(text, (size_t)(to - text->start)) != before;
}

/* Reads a raw string, which begins like R"delimiter( and ends when the delimiter is repeated. The scanner is at the
 * opening quote. */
static void scan_raw_string(struct scanner *scanner)
{
    const char *open = scanner->at + 1;
    const char *p = open;
    while (p < scanner->end && *p != '(' && *p != '\n' && p - open <= 16)
        ++p;
    if (!scanner->cplusplus || p >= scanner->end || *p != '(') {
        scanner->problem = "what may be a raw string";
        return;
    }
    const size_t length = (size_t)(p - open);
    for (++p; p < scanner->end && (p = memchr(p, ')', (size_t)(scanner->end - p))) != NULL; ++p) {
        if ((size_t)(scanner->end - p) < length + 2)
            break;
        if (memcmp(p + 1, open, length) != 0 || p[length + 1] != '"')
            continue;
        if (has_splice(scanner->text, scanner->at, p))
            break;
        scanner->at = p + length + 2;
        return;
    }
    scanner->problem = "a raw string that is not closed or goes over a backslash at the end of a line";
}

static bool is_raw_prefix(const char *start, size_t size)
{
    if (size == 0 || start[size - 1] != 'R')
        return false;
    return size == 1 || (size == 2 && (start[0] == 'L' || start[0] == 'u' || start[0] == 'U')) ||
           (size == 3 && start[0] == 'u' && start[1] == '8');
}

static enum token_kind scan_number(struct scanner *scanner)
{
    while (scanner->at < scanner->end) {
        const char c = *scanner->at;
        const char next = peek_character(scanner, 1);
        if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (next == '+' || next == '-')) {
            scanner->at += 2;
        } else if (in_name(c) || c == '.') {
            ++scanner->at;
        } else if (c == '\'' && in_name(next)) {
            if (!scanner->cplusplus) {
                scanner->problem = "a quote in a number";
                break;
            }
            scanner->at += 2;
        } else {
            break;
        }
    }
    return TOKEN_NUMBER;
}

static enum token_kind scan_one(struct scanner *scanner)
{
    const char c = *scanner->at;
    if (in_name(c) && !is_digit(c)) {
        const char *start = scanner->at;
        scanner->at += text_name_length((size_t)(scanner->end - start), start);
        if (peek_character(scanner, 0) != '"' || !is_raw_prefix(start, (size_t)(scanner->at - start)))
            return TOKEN_IDENTIFIER;
        scan_raw_string(scanner);
        return TOKEN_STRING;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek_character(scanner, 1))))
        return scan_number(scanner);
    if (c == '"' || c == '\'')
        return scan_literal(scanner);
    if (c == '\n') {
        ++scanner->at;
        return TOKEN_NEWLINE;
    }
    if (*scanner->at == '#') {
        const bool twice = peek_character(scanner, 1) == '#';
        scanner->at += twice ? 2 : 1;
        scanner->has_paste = scanner->has_paste || twice;
        return twice ? TOKEN_HASH_HASH : TOKEN_HASH;
    }
    if (*scanner->at == '%' && peek_character(scanner, 1) == ':') {
        const bool twice = peek_character(scanner, 2) == '%' && peek_character(scanner, 3) == ':';
        scanner->at += twice ? 4 : 2;
        scanner->has_paste = scanner->has_paste || twice;
        return twice ? TOKEN_HASH_HASH : TOKEN_HASH;
    }
    ++scanner->at;
    return TOKEN_OTHER;
}

void scanner_next(struct scanner *scanner, struct token *token)
{
    const char *from = scanner->at;
    token->space_before = scanner_skip_space(scanner);
    token->start = scanner->at;
    token->kind = TOKEN_END;
    token->size = 0;
    if (scanner->at >= scanner->end || scanner->problem != NULL)
        return;
    token->kind = scan_one(scanner);
    token->size = (size_t)(scanner->at - token->start);
    count_steps(scanner, from, scanner->at);
    if (scanner->problem != NULL) {
        scanner->at = token->start;
        token->kind = TOKEN_END;
    }
}

/* True if the name at this underscore can be skipped: it does not begin with two underscores, or with "_P" like
 * _Pragma, and it is not a single underscore, from which ## may make such a name. */
static bool is_plain_underscore(const char *line, const char *p, const char *end)
{
    if (*p != '_' || (p + 1 != end && (p[1] == '_' || p[1] == 'P')))
        return false;
    return (p + 1 != end && in_name(p[1])) || (p != line && in_name(p[-1]));
}

void scanner_skip_plain_lines(struct scanner *scanner)
{
    const char *line = scanner->at;
    const char *p = line;
    while (p < scanner->end) {
        if (!is_telling[(unsigned char)*p] || is_plain_underscore(line, p, scanner->end))
            ++p;
        else if (*p == '\n')
            line = ++p;
        else
            break;
    }
    scanner->at = p < scanner->end ? line : p;
}

void scanner_skip_line(struct scanner *scanner, struct token *token)
{
    while (!token_ends_line(token))
        scanner_next(scanner, token);
}

bool token_is(const struct token *token, const char *text)
{
    return token->size == strlen(text) && memcmp(token->start, text, token->size) == 0;
}

/*
 * code_weight.c - counts the tokens of the code that kernels use; see code_weight.h.
 *
 * Most of a program's text may be headers whose functions, types and macros it does not use, so the length of the text
 * says little. A first pass finds functions, initialized variables and macros. Then their tokens are counted from the
 * kernels on, through the names that they use. This is not a parser: conditions are not evaluated, the last definition
 * of a name counts, and a name stands for everything that it could mean. The result is only an estimate.
 */
#include "backends/opencl/code_weight.h"

#include <stdint.h>
#include <string.h>

#define NONE UINT32_MAX

enum { MAX_MACRO_DEPTH = 30, MAX_MACRO_WEIGHT = 100000 };

/* ---- tokens ---- */

struct cursor {
    const char *at;
    const char *end;
    bool in_line; /* true if something other than blanks stands before, in the line */
};

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_DIRECTIVE, TOKEN_OTHER };

struct code_token {
    enum token_kind kind;
    const char *start;
    const char *end;
};

static bool is_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the end of a line, or of a directive with its continued lines. */
static const char *line_end(const char *at, const char *end)
{
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL)
            return end;
        if (newline == at || newline[-1] != '\\')
            return newline;
        at = newline + 1;
    }
    return end;
}

static const char *comment_end(const char *at, const char *end)
{
    const char *close = memmem(at, (size_t)(end - at), "*/", 2);
    return close != NULL ? close + 2 : end;
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end) {
        const char c = *cursor->at;
        const char next = cursor->at + 1 < cursor->end ? cursor->at[1] : '\0';
        if (c == '\n')
            cursor->in_line = false;
        if (c == '/' && next == '/')
            cursor->at = line_end(cursor->at, cursor->end);
        else if (c == '/' && next == '*')
            cursor->at = comment_end(cursor->at + 2, cursor->end);
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\')
            ++cursor->at;
        else
            return;
    }
}

static const char *literal_end(const char *at, const char *end)
{
    const char quote = *at++;
    while (at < end && *at != quote && *at != '\n')
        at += *at == '\\' ? 2 : 1;
    return at < end ? at + 1 : end;
}

static struct code_token next_token(struct cursor *cursor)
{
    skip_blanks(cursor);
    struct code_token token = {TOKEN_END, cursor->at, cursor->end};
    if (cursor->at >= cursor->end)
        return token;
    const char *at = cursor->at;
    if (*at == '#' && !cursor->in_line) {
        token.kind = TOKEN_DIRECTIVE;
        at = line_end(at, cursor->end);
    } else if (is_in_name(*at)) {
        token.kind = *at >= '0' && *at <= '9' ? TOKEN_OTHER : TOKEN_NAME;
        while (at < cursor->end && is_in_name(*at))
            ++at;
    } else {
        token.kind = TOKEN_OTHER;
        at = *at == '"' || *at == '\'' ? literal_end(at, cursor->end) : at + 1;
    }
    cursor->in_line = true;
    cursor->at = at;
    token.end = at;
    return token;
}

static bool token_is(const struct code_token *token, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(token->end - token->start) == size && memcmp(token->start, word, size) == 0;
}

static uint64_t hash_of(const struct code_token *token)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *at = token->start; at < token->end; ++at)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return hash;
}

/* ---- items ---- */

/* A call is a declaration without braces. It is a function if the called name is a macro. */
enum item_kind { ITEM_FUNCTION, ITEM_CALL, ITEM_VARIABLE, ITEM_MACRO };

struct item {
    uint64_t name; /* its hash, which is taken for the name */
    const char *start;
    const char *body; /* of a function or variable: the end of its head, or NULL */
    const char *end;
    uint32_t next; /* in its bucket: an earlier item */
    uint32_t weight;
    enum item_kind kind;
    bool is_used;
    bool is_weighed; /* of a macro, like the next two */
    bool has_words;  /* words is set */
    uint8_t words;
};

struct weighing {
    struct item *items; /* NULL while they are counted */
    uint32_t count;
    uint32_t *buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t *pending;     /* used items that are not weighed yet */
    uint32_t pending_count;
    uint32_t macro_depth;
};

/* What was read of a declaration so far. */
struct head {
    const char *start;
    const char *body;
    uint64_t last_name;
    uint64_t name;
    bool has_parameters;
    bool has_value;
};

static void add_item(struct weighing *weighing, enum item_kind kind, const struct head *head, const char *end)
{
    if (weighing->items != NULL)
        weighing->items[weighing->count] = (struct item){
            .name = head->name, .start = head->start, .body = head->body, .end = end, .kind = kind, .next = NONE};
    ++weighing->count;
}

/* Adds the macro of a #define. */
static void add_macro(struct weighing *weighing, const struct code_token *directive)
{
    struct cursor cursor = {directive->start + 1, directive->end, true};
    struct code_token token = next_token(&cursor);
    if (!token_is(&token, "define"))
        return;
    token = next_token(&cursor);
    const struct head head = {.start = token.end, .body = token.end, .name = hash_of(&token)};
    if (token.kind == TOKEN_NAME)
        add_item(weighing, ITEM_MACRO, &head, directive->end);
}

/* Notes a token of a declaration's head, outside of parentheses and braces. */
static void note(struct head *head, const struct code_token *token)
{
    if (token->kind == TOKEN_NAME) {
        if (!token_is(token, "__attribute__"))
            head->last_name = hash_of(token);
        return;
    }
    const char c = *token->start;
    if (c == '(' && !head->has_value) {
        head->name = head->last_name;
        head->has_parameters = true;
    } else if ((c == '=' || c == '[') && !head->has_parameters && head->name == 0) {
        head->name = head->last_name;
    }
    head->has_value = head->has_value || (c == '=' && !head->has_parameters);
}

static void find_items(struct weighing *weighing, const char *start, const char *end)
{
    struct cursor cursor = {start, end, false};
    struct head head = {.start = NULL};
    size_t braces = 0;
    size_t parentheses = 0;
    for (struct code_token token = next_token(&cursor); token.kind != TOKEN_END; token = next_token(&cursor)) {
        const char c = *token.start;
        if (token.kind == TOKEN_DIRECTIVE) {
            add_macro(weighing, &token);
            continue;
        }
        if (head.start == NULL)
            head = (struct head){.start = token.start};
        if (braces == 0 && parentheses == 0)
            note(&head, &token);
        if (c == '(')
            ++parentheses;
        else if (c == ')' && parentheses != 0)
            --parentheses;
        else if (c == '{' && braces++ == 0)
            head.body = token.start;
        else if (c == '}' && braces != 0)
            --braces;
        const bool is_outside = braces == 0 && parentheses == 0;
        if (is_outside && c == '}' && head.has_parameters)
            add_item(weighing, ITEM_FUNCTION, &head, token.end);
        else if (is_outside && c == ';' && head.has_value && head.body != NULL)
            add_item(weighing, ITEM_VARIABLE, &head, token.end);
        else if (is_outside && c == ';' && head.has_parameters)
            add_item(weighing, ITEM_CALL, &head, token.end);
        if (is_outside && (c == ';' || (c == '}' && head.has_parameters)))
            head.start = NULL;
    }
    if (head.start != NULL && head.has_parameters)
        add_item(weighing, ITEM_CALL, &head, end);
}

/* ---- weights ---- */

/* Returns the last item of that name, or NULL. */
static struct item *find(const struct weighing *weighing, uint64_t name)
{
    uint32_t at = weighing->buckets[name & (weighing->bucket_count - 1)];
    while (at != NONE && weighing->items[at].name != name)
        at = weighing->items[at].next;
    return at != NONE ? &weighing->items[at] : NULL;
}

static void use(struct weighing *weighing, struct item *item)
{
    if (item->is_used)
        return;
    item->is_used = true;
    weighing->pending[weighing->pending_count++] = (uint32_t)(item - weighing->items);
}

static size_t weigh_range(struct weighing *weighing, const char *start, const char *end);

static size_t macro_weight(struct weighing *weighing, struct item *macro)
{
    if (!macro->is_weighed && weighing->macro_depth < MAX_MACRO_DEPTH) {
        macro->is_weighed = true; /* with 0 inside of itself */
        ++weighing->macro_depth;
        const size_t weight = weigh_range(weighing, macro->start, macro->end);
        --weighing->macro_depth;
        macro->weight = (uint32_t)(weight < MAX_MACRO_WEIGHT ? weight : MAX_MACRO_WEIGHT);
    }
    return macro->weight;
}

/* Counts the tokens, and notes the functions and variables that they use. */
static size_t weigh_range(struct weighing *weighing, const char *start, const char *end)
{
    struct cursor cursor = {start, end, true};
    size_t weight = 0;
    for (struct code_token token = next_token(&cursor); token.kind != TOKEN_END; token = next_token(&cursor)) {
        if (token.kind == TOKEN_DIRECTIVE)
            continue;
        struct item *item = token.kind == TOKEN_NAME ? find(weighing, hash_of(&token)) : NULL;
        if (item != NULL && item->kind == ITEM_MACRO)
            weight += macro_weight(weighing, item);
        else
            ++weight;
        if (item != NULL && item->kind != ITEM_MACRO)
            use(weighing, item);
    }
    return weight;
}

static size_t weigh_used(struct weighing *weighing)
{
    size_t weight = 0;
    while (weighing->pending_count != 0) {
        const struct item *item = &weighing->items[weighing->pending[--weighing->pending_count]];
        weight += weigh_range(weighing, item->start, item->end);
    }
    return weight;
}

enum { IS_KERNEL = 1, IS_LOCAL = 2, MAX_HEAD_DEPTH = 4 };

/* Returns what the words of a head say, in which macros may stand for words. */
static unsigned words_of(const struct weighing *weighing, const char *start, const char *end, unsigned depth);

static unsigned words_of_macro(const struct weighing *weighing, struct item *macro, unsigned depth)
{
    if (!macro->has_words) {
        macro->has_words = true; /* with none inside of itself */
        macro->words = (uint8_t)words_of(weighing, macro->start, macro->end, depth);
    }
    return macro->words;
}

static unsigned words_of(const struct weighing *weighing, const char *start, const char *end, unsigned depth)
{
    struct cursor cursor = {start, end, true};
    unsigned words = 0;
    for (struct code_token token = next_token(&cursor); token.kind != TOKEN_END; token = next_token(&cursor)) {
        if (token_is(&token, "(") && depth == MAX_HEAD_DEPTH)
            break;
        if (token.kind != TOKEN_NAME)
            continue;
        if (token_is(&token, "kernel") || token_is(&token, "__kernel"))
            words |= IS_KERNEL;
        if (token_is(&token, "static") || token_is(&token, "inline"))
            words |= IS_LOCAL;
        struct item *macro = find(weighing, hash_of(&token));
        if (macro != NULL && macro->kind == ITEM_MACRO && depth != 0)
            words |= words_of_macro(weighing, macro, depth - 1);
    }
    return words;
}

/* Uses the kernels, or the functions that other programs could call. */
static void use_roots(struct weighing *weighing, bool kernels)
{
    for (uint32_t i = 0; i < weighing->count; ++i) {
        struct item *item = &weighing->items[i];
        const struct item *named = find(weighing, item->name);
        const bool is_function = item->kind == ITEM_CALL ? named != NULL && named->kind == ITEM_MACRO
                                                         : named == item && item->kind == ITEM_FUNCTION;
        if (!is_function)
            continue;
        const unsigned words = words_of(weighing, item->start, item->end, MAX_HEAD_DEPTH);
        if (kernels ? (words & IS_KERNEL) != 0 : (words & IS_LOCAL) == 0)
            use(weighing, item);
    }
}

/* ---- a request ---- */

static void find_all_items(struct weighing *weighing, const ingot_build_request_t *request)
{
    weighing->count = 0;
    for (size_t i = 0; i < request->header_count; ++i)
        find_items(weighing, request->headers[i].bytes,
                   (const char *)request->headers[i].bytes + request->headers[i].size);
    for (size_t i = 0; i < request->source_count; ++i) {
        const ingot_source_view_t *source = &request->sources[i];
        if (source->kind != INGOT_SOURCE_SPIRV)
            find_items(weighing, source->bytes, (const char *)source->bytes + source->size);
    }
}

static void fill_buckets(struct weighing *weighing)
{
    memset(weighing->buckets, 0xff, weighing->bucket_count * sizeof(*weighing->buckets));
    for (uint32_t i = 0; i < weighing->count; ++i) {
        if (weighing->items[i].kind == ITEM_CALL)
            continue;
        uint32_t *bucket = &weighing->buckets[weighing->items[i].name & (weighing->bucket_count - 1)];
        weighing->items[i].next = *bucket;
        *bucket = i;
    }
}

bool opencl_weigh_code(const ingot_allocator_t *allocator, const ingot_build_request_t *request,
                       struct opencl_code_weight *weight)
{
    struct weighing weighing = {.bucket_count = 16};
    *weight = (struct opencl_code_weight){0, 0};
    find_all_items(&weighing, request);
    if (weighing.count == 0)
        return true;
    while (weighing.bucket_count < weighing.count)
        weighing.bucket_count *= 2;
    const size_t items_size = weighing.count * sizeof(*weighing.items);
    const size_t size = items_size + ((size_t)weighing.bucket_count + weighing.count) * sizeof(uint32_t);
    void *memory = ingot_allocate(allocator, size);
    if (memory == NULL)
        return false;
    weighing.items = memory;
    weighing.buckets = (uint32_t *)((char *)memory + items_size);
    weighing.pending = weighing.buckets + weighing.bucket_count;
    find_all_items(&weighing, request);
    fill_buckets(&weighing);
    use_roots(&weighing, true);
    weight->reached = weigh_used(&weighing);
    use_roots(&weighing, false);
    weight->kept = weight->reached + weigh_used(&weighing);
    ingot_deallocate(allocator, memory, size);
    return true;
}

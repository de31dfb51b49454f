/*
 * code_weight.c - estimates how much code kernels use, from the tokens of their sources; see code_weight.h.
 *
 * Most of a program's text may be headers whose functions, types and macros it does not use, so the length of the
 * text says little. A first pass finds functions, initialized variables and macros. A second pass weighs the tokens
 * of the kernels, and of the functions and variables whose names they use, directly or indirectly. This is not a
 * parser: a name always means the last function, variable or macro that is defined with this name. The result is only
 * an estimate.
 */
#include "backends/opencl/size/code_weight.h"

#include "backends/opencl/size/code_tokens.h"
#include "backends/opencl/size/live_text.h"

#include <stdint.h>
#include <string.h>

#define NONE UINT32_MAX

enum { MAX_MACRO_DEPTH = 30, MAX_MACRO_WEIGHT = 100000 };

/* The bytes of bitcode that each of these constructs takes, as measured in hashcat's programs and in texts that repeat
 * one kind of statement; see doc/design.md. */
enum {
    BYTES_OF_FUNCTION = 40,
    BYTES_OF_ELEMENT = 25,
    BYTES_OF_OPERATOR = 10,
    BYTES_OF_CONTROL = 7,
    BYTES_OF_CALL = 60
};

struct weight {
    size_t tokens;
    size_t bytes; /* of bitcode */
};

/* ---- items ---- */

/* A call is a declaration with parentheses and without braces. It may define a function if its name is a macro. */
enum item_kind { ITEM_FUNCTION, ITEM_CALL, ITEM_VARIABLE, ITEM_MACRO };

struct item {
    uint64_t name; /* hash of the name; names with the same hash are treated as the same name */
    const char *start;
    const char *end;
    uint32_t next; /* an earlier item in the same bucket, or NONE */
    struct weight weight;
    enum item_kind kind;
    bool is_used;
    bool is_weighed; /* only for macros, like the next two fields */
    bool has_words;  /* `words` is set */
    uint8_t words;
};

struct weighing {
    struct item *items; /* NULL in the pass that only counts items */
    uint32_t count;
    uint32_t *buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t *pending;     /* used items that are not weighed yet */
    uint32_t pending_count;
    uint32_t macro_depth;
};

/* The part of a declaration that has been read so far. */
struct head {
    const char *start;
    const char *body; /* the first brace of the declaration, or NULL */
    uint64_t last_name;
    uint64_t name;
    bool has_parameters;
    bool has_value;
};

static void add_item(struct weighing *weighing, enum item_kind kind, const struct head *head, const char *end)
{
    if (weighing->items != NULL)
        weighing->items[weighing->count] =
            (struct item){.name = head->name, .start = head->start, .end = end, .kind = kind, .next = NONE};
    ++weighing->count;
}

/* Adds the macro of a #define. */
static void add_macro(struct weighing *weighing, const struct code_token *directive)
{
    struct code_cursor cursor = {directive->start + 1, directive->end, true};
    struct code_token token = code_token_next(&cursor);
    if (!code_token_is(&token, "define"))
        return;
    token = code_token_next(&cursor);
    const struct head head = {.start = token.end, .name = code_token_hash(&token)};
    if (token.kind == TOKEN_NAME)
        add_item(weighing, ITEM_MACRO, &head, directive->end);
}

/* Takes note of a token that belongs to a declaration and is outside of parentheses and braces. */
static void note(struct head *head, const struct code_token *token)
{
    if (token->kind == TOKEN_NAME) {
        if (!code_token_is(token, "__attribute__"))
            head->last_name = code_token_hash(token);
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
    struct code_cursor cursor = {start, end, false};
    struct head head = {.start = NULL};
    size_t braces = 0;
    size_t parentheses = 0;
    for (struct code_token token = code_token_next(&cursor); token.kind != TOKEN_END;
         token = code_token_next(&cursor)) {
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

/* Returns the last item with this name, or NULL. */
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

static struct weight weigh_range(struct weighing *weighing, const char *start, const char *end);

static void add_weight(struct weight *sum, struct weight weight)
{
    sum->tokens += weight.tokens;
    sum->bytes += weight.bytes;
}

static size_t at_most(size_t value, size_t limit)
{
    return value < limit ? value : limit;
}

static struct weight macro_weight(struct weighing *weighing, struct item *macro)
{
    if (!macro->is_weighed && weighing->macro_depth < MAX_MACRO_DEPTH) {
        macro->is_weighed = true; /* set first, so that a macro that uses itself adds nothing */
        ++weighing->macro_depth;
        const struct weight weight = weigh_range(weighing, macro->start, macro->end);
        --weighing->macro_depth;
        macro->weight.tokens = at_most(weight.tokens, MAX_MACRO_WEIGHT);
        macro->weight.bytes = at_most(weight.bytes, MAX_MACRO_WEIGHT * BYTES_OF_CALL);
    }
    return macro->weight;
}

static bool is_control(const struct code_token *token)
{
    return code_token_is(token, "if") || code_token_is(token, "for") || code_token_is(token, "while") ||
           code_token_is(token, "switch") || code_token_is(token, "case") || code_token_is(token, "return");
}

/* Returns how many bytes of bitcode a token stands for. A name before a parenthesis is a call, and two equal characters
 * are one operator. */
static size_t bytes_of(const struct code_token *token, const struct code_token *before)
{
    const char c = *token->start;
    if (token->kind == TOKEN_NAME)
        return is_control(token) ? BYTES_OF_CONTROL : 0;
    if (c == '(')
        return before->kind == TOKEN_NAME && !is_control(before) ? BYTES_OF_CALL : 0;
    if (c == '[')
        return BYTES_OF_ELEMENT;
    const bool is_second = before->kind == TOKEN_OTHER && before->end == token->start && *before->start == c;
    return c != '\0' && strchr("+-*/%<>^&|?!~.", c) != NULL && !is_second ? BYTES_OF_OPERATOR : 0;
}

/* Weighs the tokens, and marks the functions and variables that they use. */
static struct weight weigh_range(struct weighing *weighing, const char *start, const char *end)
{
    struct code_cursor cursor = {start, end, true};
    struct code_token before = {TOKEN_END, start, start};
    struct weight sum = {0, 0};
    for (struct code_token token = code_token_next(&cursor); token.kind != TOKEN_END;
         token = code_token_next(&cursor)) {
        if (token.kind == TOKEN_DIRECTIVE)
            continue;
        struct item *item = token.kind == TOKEN_NAME ? find(weighing, code_token_hash(&token)) : NULL;
        if (item != NULL && item->kind == ITEM_MACRO)
            add_weight(&sum, macro_weight(weighing, item));
        else
            add_weight(&sum, (struct weight){1, bytes_of(&token, &before)});
        if (item != NULL && item->kind != ITEM_MACRO)
            use(weighing, item);
        before = token;
    }
    return sum;
}

static struct weight weigh_used(struct weighing *weighing)
{
    struct weight sum = {0, 0};
    while (weighing->pending_count != 0) {
        const struct item *item = &weighing->items[weighing->pending[--weighing->pending_count]];
        add_weight(&sum, weigh_range(weighing, item->start, item->end));
        sum.bytes += BYTES_OF_FUNCTION;
    }
    return sum;
}

enum { IS_KERNEL = 1, IS_LOCAL = 2, MAX_HEAD_DEPTH = 4 };

/* Returns IS_KERNEL, IS_LOCAL, both or neither, depending on the words before a declaration's first parenthesis. Looks
 * inside macros, too. */
static unsigned words_of(const struct weighing *weighing, const char *start, const char *end, unsigned depth);

static unsigned words_of_macro(const struct weighing *weighing, struct item *macro, unsigned depth)
{
    if (!macro->has_words) {
        macro->has_words = true; /* set first, so that a macro that uses itself adds nothing */
        macro->words = (uint8_t)words_of(weighing, macro->start, macro->end, depth);
    }
    return macro->words;
}

static unsigned words_of(const struct weighing *weighing, const char *start, const char *end, unsigned depth)
{
    struct code_cursor cursor = {start, end, true};
    unsigned words = 0;
    for (struct code_token token = code_token_next(&cursor); token.kind != TOKEN_END;
         token = code_token_next(&cursor)) {
        if (code_token_is(&token, "(") && depth == MAX_HEAD_DEPTH)
            break;
        if (token.kind != TOKEN_NAME)
            continue;
        if (code_token_is(&token, "kernel") || code_token_is(&token, "__kernel"))
            words |= IS_KERNEL;
        if (code_token_is(&token, "static") || code_token_is(&token, "inline"))
            words |= IS_LOCAL;
        struct item *macro = find(weighing, code_token_hash(&token));
        if (macro != NULL && macro->kind == ITEM_MACRO && depth != 0)
            words |= words_of_macro(weighing, macro, depth - 1);
    }
    return words;
}

/* Marks the kernels as used or, if `kernels` is false, the functions that other programs could call. */
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

/* Finds and weighs the items of a text. Returns false if out of memory. */
static bool weigh(const ingot_allocator_t *allocator, const struct live_text *text, struct opencl_code_weight *weight)
{
    struct weighing weighing = {.bucket_count = 16};
    find_items(&weighing, text->bytes, text->bytes + text->size);
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
    weighing.count = 0;
    find_items(&weighing, text->bytes, text->bytes + text->size);
    fill_buckets(&weighing);
    use_roots(&weighing, true);
    const struct weight reached = weigh_used(&weighing);
    use_roots(&weighing, false);
    weight->reached = reached.tokens;
    weight->kept = reached.bytes + weigh_used(&weighing).bytes;
    ingot_deallocate(allocator, memory, size);
    return true;
}

bool opencl_weigh_code(const ingot_allocator_t *allocator, const ingot_build_request_t *request,
                       struct opencl_code_weight *weight)
{
    struct live_text text = live_text_of(allocator, request);
    *weight = (struct opencl_code_weight){0, 0};
    if (text.bytes == NULL)
        return false;
    const bool is_weighed = weigh(allocator, &text, weight);
    live_text_free(allocator, &text);
    return is_weighed;
}

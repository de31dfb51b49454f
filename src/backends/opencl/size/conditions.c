/*
 * conditions.c - evaluates the conditions of #if; see conditions.h.
 *
 * An expression of names, numbers, defined, !, comparisons, && and || is evaluated. Anything else makes the whole
 * expression unknown.
 */
#include "backends/opencl/size/conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER_SIZE = 32, MAX_DEPTH = 30 };

/* ---- names ---- */

/* Returns the place of a name in the table, or a free place if the table does not have it. */
static struct defined_name *place_of(const struct defined_names *names, uint64_t hash)
{
    size_t at = (size_t)hash & (names->capacity - 1);
    while (names->names[at].hash != 0 && names->names[at].hash != hash)
        at = (at + 1) & (names->capacity - 1);
    return &names->names[at];
}

/* True if the compiler or its headers may define the name. */
static bool is_reserved(const struct code_token *name)
{
    const size_t size = (size_t)(name->end - name->start);
    return size > 2 && (memcmp(name->start, "__", 2) == 0 || memcmp(name->start, "cl", 2) == 0 ||
                        memcmp(name->start, "CL", 2) == 0);
}

static struct defined_name look_up(const struct defined_names *names, const struct code_token *name)
{
    const struct defined_name *found = place_of(names, code_token_hash(name));
    if (found->hash != 0)
        return *found;
    return is_reserved(name) ? (struct defined_name){.is_defined = IS_UNKNOWN} : (struct defined_name){.hash = 0};
}

static bool read_number(const struct code_token *token, int64_t *number)
{
    char text[MAX_NUMBER_SIZE];
    const size_t size = (size_t)(token->end - token->start);
    char *end = NULL;
    if (token->kind != TOKEN_OTHER || *token->start < '0' || *token->start > '9' || size >= sizeof(text))
        return false;
    memcpy(text, token->start, size);
    text[size] = '\0';
    errno = 0;
    *number = strtoll(text, &end, 0);
    return errno == 0 && strspn(end, "uUlL") == strlen(end);
}

static void set_name(struct defined_names *names, const struct code_token *name, struct defined_name value)
{
    struct defined_name *place = place_of(names, code_token_hash(name));
    value.hash = code_token_hash(name);
    *place = value;
}

void names_define(struct defined_names *names, const char *start, const char *end, bool is_certain)
{
    struct code_cursor cursor = {start, end, true};
    const struct code_token name = code_token_next(&cursor);
    struct defined_name value = {.is_defined = is_certain ? IS_TRUE : IS_UNKNOWN};
    if (name.kind != TOKEN_NAME)
        return;
    const struct code_token body = code_token_next(&cursor);
    value.has_value = is_certain && read_number(&body, &value.value) && code_token_next(&cursor).kind == TOKEN_END;
    set_name(names, &name, value);
}

void names_define_option(struct defined_names *names, const char *start, const char *end)
{
    struct code_cursor cursor = {start, end, true};
    struct defined_name value = {.is_defined = IS_TRUE, .has_value = true, .value = 1};
    const struct code_token name = code_token_next(&cursor);
    if (name.kind != TOKEN_NAME)
        return;
    if (code_token_next(&cursor).kind != TOKEN_END) { /* '=' */
        const struct code_token body = code_token_next(&cursor);
        value.has_value = read_number(&body, &value.value) && code_token_next(&cursor).kind == TOKEN_END;
    }
    set_name(names, &name, value);
}

void names_undefine(struct defined_names *names, const char *start, const char *end, bool is_certain)
{
    struct code_cursor cursor = {start, end, true};
    const struct code_token name = code_token_next(&cursor);
    if (name.kind == TOKEN_NAME)
        set_name(names, &name, (struct defined_name){.is_defined = is_certain ? IS_FALSE : IS_UNKNOWN});
}

/* ---- expressions ---- */

struct value {
    bool is_known;
    int64_t number;
};

struct expression {
    const struct defined_names *names;
    struct code_cursor cursor;
    struct code_token token; /* the next token */
    unsigned depth;
};

static const struct value unknown = {false, 0};

static void advance(struct expression *expression)
{
    expression->token = code_token_next(&expression->cursor);
}

/* Takes an operator of one or two characters if it comes next. */
static bool take(struct expression *expression, const char *operator)
{
    const struct expression before = *expression;
    for (; *operator!= '\0'; ++operator) {
        if (expression->token.kind != TOKEN_OTHER || *expression->token.start != *operator) {
            *expression = before;
            return false;
        }
        advance(expression);
    }
    return true;
}

static struct value value_of_truth(enum truth truth)
{
    return truth == IS_UNKNOWN ? unknown : (struct value){true, truth == IS_TRUE};
}

static struct value evaluate_or(struct expression *expression);

static struct value evaluate_defined(struct expression *expression)
{
    const bool is_in_parentheses = take(expression, "(");
    const struct code_token name = expression->token;
    if (name.kind != TOKEN_NAME)
        return unknown;
    advance(expression);
    if (is_in_parentheses && !take(expression, ")"))
        return unknown;
    return value_of_truth(look_up(expression->names, &name).is_defined);
}

static struct value evaluate_name(struct expression *expression)
{
    const struct code_token token = expression->token;
    advance(expression);
    if (code_token_is(&token, "defined"))
        return evaluate_defined(expression);
    const struct defined_name name = look_up(expression->names, &token);
    if (name.is_defined == IS_FALSE)
        return (struct value){true, 0};
    return name.has_value ? (struct value){true, name.value} : unknown;
}

static struct value evaluate_operand(struct expression *expression)
{
    struct value value = unknown;
    bool is_logical = false;
    bool is_negated = false;
    for (; take(expression, "!"); is_logical = true)
        is_negated = !is_negated;
    if (take(expression, "(")) {
        if (++expression->depth < MAX_DEPTH)
            value = evaluate_or(expression);
        --expression->depth;
        if (!take(expression, ")"))
            value = unknown;
    } else if (expression->token.kind == TOKEN_NAME) {
        value = evaluate_name(expression);
    } else if (read_number(&expression->token, &value.number)) {
        value.is_known = true;
        advance(expression);
    }
    if (is_logical)
        value.number = (value.number != 0) != is_negated;
    return value;
}

static struct value evaluate_comparison(struct expression *expression)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">"};
    const struct value left = evaluate_operand(expression);
    size_t at = 0;
    while (at < sizeof(operators) / sizeof(operators[0]) && !take(expression, operators[at]))
        ++at;
    if (at == sizeof(operators) / sizeof(operators[0]))
        return left;
    const struct value right = evaluate_operand(expression);
    const int64_t a = left.number;
    const int64_t b = right.number;
    const bool results[] = {a == b, a != b, a <= b, a >= b, a<b, a> b};
    return left.is_known && right.is_known ? (struct value){true, results[at]} : unknown;
}

/* Joins two values by && (`deciding` is false) or || (`deciding` is true). If one of them is known to be `deciding`, so
 * is the result, even if the other one is unknown. */
static struct value join(struct value left, struct value right, bool deciding)
{
    if ((left.is_known && (left.number != 0) == deciding) || (right.is_known && (right.number != 0) == deciding))
        return (struct value){true, deciding};
    return left.is_known && right.is_known ? (struct value){true, !deciding} : unknown;
}

static struct value evaluate_and(struct expression *expression)
{
    struct value value = evaluate_comparison(expression);
    while (take(expression, "&&"))
        value = join(value, evaluate_comparison(expression), false);
    return value;
}

static struct value evaluate_or(struct expression *expression)
{
    struct value value = evaluate_and(expression);
    while (take(expression, "||"))
        value = join(value, evaluate_and(expression), true);
    return value;
}

enum truth condition_of(const struct defined_names *names, const char *start, const char *end)
{
    struct expression expression = {.names = names, .cursor = {start, end, true}};
    advance(&expression);
    const struct value value = evaluate_or(&expression);
    if (!value.is_known || expression.token.kind != TOKEN_END)
        return IS_UNKNOWN;
    return value.number != 0 ? IS_TRUE : IS_FALSE;
}

enum truth condition_is_defined(const struct defined_names *names, const char *start, const char *end)
{
    struct code_cursor cursor = {start, end, true};
    const struct code_token name = code_token_next(&cursor);
    return name.kind == TOKEN_NAME ? look_up(names, &name).is_defined : IS_UNKNOWN;
}

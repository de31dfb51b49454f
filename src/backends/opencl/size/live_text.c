/*
 * live_text.c - copies a request's texts without what a compiler skips; see live_text.h.
 */
#include "backends/opencl/size/live_text.h"

#include "backends/opencl/size/code_tokens.h"
#include "backends/opencl/size/conditions.h"

#include <string.h>

enum { MAX_GROUPS = 64 };

/* A group of lines from #if to #endif. */
struct group {
    bool was_live;    /* is_live before the #if */
    bool was_certain; /* is_certain before the #if */
    bool has_matched; /* an earlier condition of the group is true, so later parts are skipped */
};

struct filter {
    struct defined_names names;
    struct group groups[MAX_GROUPS];
    size_t depth;
    size_t too_deep; /* number of open groups that do not fit in `groups`; they are not evaluated */
    bool is_live;
    bool is_certain; /* no enclosing condition is unknown */
    struct live_text *out;
};

static bool is_text(const ingot_source_view_t *view)
{
    return view->kind != INGOT_SOURCE_SPIRV;
}

static void put(struct filter *filter, const char *start, const char *end)
{
    memcpy(filter->out->bytes + filter->out->size, start, (size_t)(end - start));
    filter->out->size += (size_t)(end - start);
}

/* ---- directives ---- */

static void begin_group(struct filter *filter)
{
    if (filter->depth == MAX_GROUPS) {
        ++filter->too_deep;
        return;
    }
    filter->groups[filter->depth++] = (struct group){filter->is_live, filter->is_certain, false};
}

/* Begins the part of a group that follows #if, #elif or #else. */
static void begin_part(struct filter *filter, enum truth condition)
{
    if (filter->too_deep != 0 || filter->depth == 0)
        return;
    struct group *group = &filter->groups[filter->depth - 1];
    filter->is_live = group->was_live && !group->has_matched && condition != IS_FALSE;
    if (condition == IS_UNKNOWN)
        filter->is_certain = false;
    group->has_matched = group->has_matched || condition == IS_TRUE;
}

static void end_group(struct filter *filter)
{
    if (filter->too_deep != 0) {
        --filter->too_deep;
    } else if (filter->depth != 0) {
        const struct group *group = &filter->groups[--filter->depth];
        filter->is_live = group->was_live;
        filter->is_certain = group->was_certain;
    }
}

/* Evaluates a directive. Returns true if it belongs to a group (#if to #endif); the text then does not include it. */
static bool follow(struct filter *filter, const struct code_token *directive)
{
    const struct defined_names *names = &filter->names;
    struct code_cursor cursor = {directive->start + 1, directive->end, true};
    const struct code_token word = code_token_next(&cursor);
    const char *const end = directive->end;

    if (code_token_is(&word, "if") || code_token_is(&word, "ifdef") || code_token_is(&word, "ifndef")) {
        begin_group(filter);
        const enum truth is_defined = condition_is_defined(names, cursor.at, end);
        begin_part(filter, code_token_is(&word, "if")      ? condition_of(names, cursor.at, end)
                           : code_token_is(&word, "ifdef") ? is_defined
                           : is_defined == IS_UNKNOWN      ? IS_UNKNOWN
                                                           : (enum truth)(IS_TRUE - is_defined));
    } else if (code_token_is(&word, "elif")) {
        begin_part(filter, condition_of(names, cursor.at, end));
    } else if (code_token_is(&word, "else")) {
        begin_part(filter, IS_TRUE);
    } else if (code_token_is(&word, "endif")) {
        end_group(filter);
    } else {
        if (filter->is_live && code_token_is(&word, "define"))
            names_define(&filter->names, cursor.at, end, filter->is_certain);
        else if (filter->is_live && code_token_is(&word, "undef"))
            names_undefine(&filter->names, cursor.at, end, filter->is_certain);
        return false;
    }
    return true;
}

static void filter_text(struct filter *filter, const char *start, const char *end)
{
    struct code_cursor cursor = {start, end, false};
    filter->depth = 0;
    filter->too_deep = 0;
    filter->is_live = true;
    filter->is_certain = true;
    for (struct code_token token = code_token_next(&cursor); token.kind != TOKEN_END;
         token = code_token_next(&cursor)) {
        if (token.kind != TOKEN_DIRECTIVE)
            continue;
        const bool was_live = filter->is_live;
        const bool is_of_group = follow(filter, &token);
        if (was_live)
            put(filter, start, is_of_group ? token.start : token.end);
        start = token.end;
    }
    if (filter->is_live)
        put(filter, start, end);
    static const char newline[] = "\n";
    put(filter, newline, newline + 1);
}

/* ---- a request ---- */

/* Finds the next -D in the options. Returns its definition, which ends at *end, or NULL if there are no more. */
static const char *next_definition(const char **at, const char **end)
{
    const char *found = strstr(*at, "-D");
    if (found == NULL)
        return NULL;
    const char *start = found + 2 + strspn(found + 2, " \t\"'");
    *end = start + strcspn(start, " \t\"'");
    *at = *end;
    return start;
}

static void define_options(struct defined_names *names, const char *options)
{
    const char *end = NULL;
    const char *start = NULL;
    while ((start = next_definition(&options, &end)) != NULL)
        names_define_option(names, start, end);
}

static size_t count_of(char wanted, const char *bytes, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; ++i)
        count += bytes[i] == wanted;
    return count;
}

static size_t size_of_views(size_t count, const ingot_source_view_t *views)
{
    size_t size = 0;
    for (size_t i = 0; i < count; ++i)
        size += is_text(&views[i]) ? views[i].size + 1 : 0;
    return size;
}

/* Returns the maximum number of defined names: each needs its own '#' in the texts or '-' in the options. */
static size_t count_names(const ingot_build_request_t *request, const char *options)
{
    size_t count = count_of('-', options, strlen(options));
    for (size_t i = 0; i < request->header_count; ++i)
        count += count_of('#', request->headers[i].bytes, request->headers[i].size);
    for (size_t i = 0; i < request->source_count; ++i)
        count += is_text(&request->sources[i]) ? count_of('#', request->sources[i].bytes, request->sources[i].size) : 0;
    return count;
}

static void filter_views(struct filter *filter, size_t count, const ingot_source_view_t *views)
{
    for (size_t i = 0; i < count; ++i) {
        if (is_text(&views[i]))
            filter_text(filter, views[i].bytes, (const char *)views[i].bytes + views[i].size);
    }
}

struct live_text live_text_of(const ingot_allocator_t *allocator, const ingot_build_request_t *request)
{
    struct live_text text = {NULL, 0, 0};
    struct filter filter = {.names = {NULL, 16}, .out = &text};
    const char *options = request->compile_options != NULL ? request->compile_options : "";
    const size_t most_names = count_names(request, options);
    while (filter.names.capacity / 2 < most_names)
        filter.names.capacity *= 2;
    const size_t names_size = filter.names.capacity * sizeof(*filter.names.names);
    filter.names.names = ingot_allocate(allocator, names_size);
    if (filter.names.names == NULL)
        return text;
    text.block_size = size_of_views(request->header_count, request->headers) +
                      size_of_views(request->source_count, request->sources) + 1;
    text.bytes = ingot_allocate(allocator, text.block_size);
    if (text.bytes != NULL) {
        memset(filter.names.names, 0, names_size);
        define_options(&filter.names, options);
        filter_views(&filter, request->header_count, request->headers);
        filter_views(&filter, request->source_count, request->sources);
    }
    ingot_deallocate(allocator, filter.names.names, names_size);
    return text;
}

void live_text_free(const ingot_allocator_t *allocator, struct live_text *text)
{
    ingot_deallocate(allocator, text->bytes, text->block_size);
}

/*
 * equal_files.c - finds files and directories that are reached under several names; see source_graph.h.
 */
#include <string.h>

#include "core/hermetic/source_graph.h"

static bool is_same_file(const struct graph_text *one, const struct graph_text *other)
{
    return one->file != NULL && other->file != NULL &&
           os_is_same_file(&one->file->state.identity, &other->file->state.identity);
}

/* Finds texts that are the same file, because #pragma once applies to a file, not to a name. */
void graph_find_equal_files(struct source_graph *graph)
{
    for (struct graph_text *text = graph->first; text != NULL; text = text->next) {
        if (!text->facts.has_once || text->once_owner != text)
            continue;
        for (struct graph_text *other = text->next; other != NULL; other = other->next) {
            if (other->facts.has_once && is_same_file(text, other))
                other->once_owner = text;
        }
    }
}

/* A directory that an included file is in or that -I names, under one of its names. */
struct named_directory {
    struct named_directory *next;
    const char *name;
    size_t size;
    struct os_file_identity identity;
};

static void add_named_directory(struct source_graph *graph, struct named_directory **first, const char *name,
                                size_t size)
{
    struct named_directory *at = *first;
    while (at != NULL && (at->size != size || memcmp(at->name, name, size) != 0))
        at = at->next;
    if (at != NULL)
        return;
    at = arena_take(&graph->scratch, sizeof(*at));
    const char *path = arena_copy(&graph->scratch, size, name);
    if (at == NULL || path == NULL)
        return;
    *at = (struct named_directory){*first, path, size, {0, 0}};
    if (witness_identify_directory(graph->witness, path, &at->identity))
        *first = at;
}

/* True if some directory is reached under two names. This matters because clang names an included file after the
 * name under which it first reached the including file's directory. */
static bool has_directory_with_two_names(struct source_graph *graph)
{
    struct named_directory *first = NULL;
    for (const struct directory *at = graph->directories; at != NULL; at = at->next)
        add_named_directory(graph, &first, at->path, strlen(at->path));
    for (const struct graph_text *text = graph->first; text != NULL; text = text->next) {
        const char *slash = text->origin == TEXT_FILE && !text->absent ? strrchr(text->path, '/') : NULL;
        const size_t size = slash != NULL ? (size_t)(slash - text->path) : 0;
        if (size != 0)
            add_named_directory(graph, &first, text->path, size);
        if (size != 0 && strncmp(text->path, "./", 2) == 0) /* found from the current directory */
            add_named_directory(graph, &first, ".", 1);
    }
    for (const struct named_directory *one = first; one != NULL; one = one->next) {
        for (const struct named_directory *two = one->next; two != NULL; two = two->next) {
            if (os_is_same_file(&one->identity, &two->identity))
                return true;
        }
    }
    return false;
}

void graph_check_file_names(struct source_graph *graph)
{
    if (!graph->names_matter || !graph->renames_files)
        return;
    for (const struct graph_text *one = graph->first; one != NULL && graph->limit == NULL; one = one->next) {
        const struct graph_text *other = one->next;
        while (other != NULL && !is_same_file(one, other))
            other = other->next;
        if (other != NULL)
            graph->limit = "a file is found by two names, and which of them __FILE__ means depends on the compiler";
    }
    if (graph->limit == NULL && has_directory_with_two_names(graph))
        graph->limit = "a directory is found by two names, and which of them __FILE__ has depends on the compiler";
}

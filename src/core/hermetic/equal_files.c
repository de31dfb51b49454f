/*
 * equal_files.c - finds texts that are one file with several names, and directories with several names.
 */
#include <string.h>

#include "core/hermetic/source_graph.h"

/* #pragma once goes by the file, not by its name. */
void graph_find_equal_files(struct source_graph *graph)
{
    for (struct graph_text *text = graph->first; text != NULL; text = text->next) {
        if (!text->has_once || text->origin != TEXT_FILE || text->once_owner != text)
            continue;
        for (struct graph_text *other = text->next; other != NULL; other = other->next) {
            if (other->has_once && other->origin == TEXT_FILE && !other->absent &&
                os_is_same_file(&text->identity, &other->identity))
                other->once_owner = text;
        }
    }
}

static bool has_another_name(const struct graph_text *text)
{
    for (const struct graph_text *other = text->next; other != NULL; other = other->next) {
        if (other->origin == TEXT_FILE && !other->absent && os_is_same_file(&text->identity, &other->identity))
            return true;
    }
    return false;
}

/* A directory of a file or of -I, under one of its names. */
struct named_directory {
    const struct named_directory *next;
    const char *name;
    size_t size;
    struct os_file_identity identity;
};

/* Adds the directory unless it is there under this name. True if it is there under another. */
static bool has_another_directory_name(struct source_graph *graph, const struct named_directory **first,
                                       const char *name, size_t size)
{
    bool is_another = false;
    for (const struct named_directory *at = *first; at != NULL; at = at->next) {
        if (at->size == size && memcmp(at->name, name, size) == 0)
            return false;
    }
    struct named_directory *added = arena_take(&graph->scratch, sizeof(*added));
    const char *path = arena_copy(&graph->scratch, size, name);
    if (added == NULL || path == NULL)
        return false;
    *added = (struct named_directory){*first, path, size, {0, 0}};
    if (!os_identify_directory(path, &added->identity))
        return false;
    for (const struct named_directory *at = *first; at != NULL && !is_another; at = at->next)
        is_another = os_is_same_file(&at->identity, &added->identity);
    *first = added;
    return is_another;
}

/* clang composes the name of a file from the name by which it first found the directory. */
static bool has_directory_with_two_names(struct source_graph *graph)
{
    const struct named_directory *first = NULL;
    bool is_another = false;
    for (const struct directory *at = graph->directories; at != NULL && !is_another; at = at->next)
        is_another = has_another_directory_name(graph, &first, at->path, strlen(at->path));
    for (const struct graph_text *text = graph->first; text != NULL && !is_another; text = text->next) {
        const char *slash = text->origin == TEXT_FILE && !text->absent ? strrchr(text->path, '/') : NULL;
        if (slash != NULL)
            is_another = has_another_directory_name(graph, &first, text->path, (size_t)(slash - text->path));
    }
    return is_another;
}

void graph_check_file_names(struct source_graph *graph)
{
    if (!graph->names_matter || !graph->renames_files)
        return;
    for (const struct graph_text *text = graph->first; text != NULL && graph->limit == NULL; text = text->next) {
        if (text->origin == TEXT_FILE && !text->absent && has_another_name(text))
            graph->limit = "a file is found by two names, and which of them __FILE__ means depends on the compiler";
    }
    if (graph->limit == NULL && has_directory_with_two_names(graph))
        graph->limit = "a directory is found by two names, and which of them __FILE__ has depends on the compiler";
}

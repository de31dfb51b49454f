/*
 * equal_files.c - finds texts that are one file with several names.
 */
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

void graph_check_file_names(struct source_graph *graph)
{
    if (!graph->names_matter || !graph->renames_files)
        return;
    for (const struct graph_text *text = graph->first; text != NULL && graph->limit == NULL; text = text->next) {
        if (text->origin == TEXT_FILE && !text->absent && has_another_name(text))
            graph->limit = "a file is found by two names, and which of them __FILE__ means depends on the compiler";
    }
}

/*
 * include_search.c - every text that a file name may mean, for any of the compilers that may be asked.
 *
 * Compilers search in different orders (doc/include-closure.md has what was found by experiment): the current directory
 * before or after the -I directories, embedded headers before or in the current directory. So what is found is a set:
 * all candidates that could come first for some compiler. Their contents and which of them exist decide what each
 * compiler takes.
 */
#include "core/include_closure/include_graph.h"

#include <string.h>

#include "core/digest.h"
#include "core/os.h"

static void add_target(struct include_graph *graph, struct include_edge *edge, struct graph_text *text)
{
    for (size_t i = 0; i < edge->target_count; ++i) {
        if (edge->targets[i] == text)
            return;
    }
    if (edge->target_count == edge->target_capacity) {
        const size_t capacity = edge->target_capacity * 2 + 2;
        struct graph_text **targets = arena_take(&graph->arena, capacity * sizeof(*targets));
        if (targets == NULL)
            return;
        if (edge->target_count != 0)
            memcpy(targets, edge->targets, edge->target_count * sizeof(*targets));
        edge->targets = targets;
        edge->target_capacity = capacity;
    }
    edge->targets[edge->target_count++] = text;
}

/* ---- files ---- */

static void read_text(struct include_graph *graph, struct graph_text *text)
{
    bytes_writer_init(&text->content, graph->arena.allocator);
    const ingot_status_t status = os_read_file(text->path, &text->content);
    if (status == INGOT_OUT_OF_MEMORY || text->content.failed) {
        graph->status = INGOT_OUT_OF_MEMORY;
    } else if (status == INGOT_NOT_FOUND) {
        text->absent = true;
    } else if (status != INGOT_SUCCESS) {
        text->problem = "content";
        text->problem_clause = "which could not be read";
    } else {
        ++graph->file_count;
        graph->total_bytes += text->content.size;
        text->bytes = text->content.size != 0 ? (const char *)text->content.bytes : "";
        text->size = text->content.size;
    }
    if (graph->file_count > MAX_FILES)
        graph->limit = "more than 10000 files are included";
    else if (graph->total_bytes > MAX_TOTAL_BYTES)
        graph->limit = "more than 256 MiB are included";
}

static struct graph_text *text_of_file(struct include_graph *graph, const char *path)
{
    struct graph_text **bucket = &graph->buckets[hash128_of(strlen(path), path).low % PATH_BUCKETS];
    for (struct graph_text *text = *bucket; text != NULL; text = text->in_bucket) {
        if (strcmp(text->path, path) == 0)
            return text->absent ? NULL : text;
    }
    if (graph->limit != NULL)
        return NULL;
    struct graph_text *text = graph_add_text(graph, TEXT_FILE, path);
    if (text == NULL)
        return NULL;
    text->in_bucket = *bucket;
    *bucket = text;
    read_text(graph, text);
    return text->absent ? NULL : text;
}

/* ---- embedded headers ---- */

const char *include_normal_path(struct arena *arena, const char *path)
{
    char *out = arena_take(arena, strlen(path) + 2);
    size_t size = 0;
    while (out != NULL && *path != 0) {
        const size_t length = strcspn(path, "/");
        const bool up = length == 2 && path[0] == '.' && path[1] == '.';
        const bool here = length == 0 || (length == 1 && path[0] == '.');
        if (up && size != 0) {
            while (size != 0 && out[size - 1] != '/')
                --size;
            size -= size != 0 ? 1 : 0;
        } else if (!here) {
            if (size != 0)
                out[size++] = '/';
            memcpy(out + size, path, length);
            size += length;
        }
        path += length;
        path += *path == '/' ? 1 : 0;
    }
    if (out != NULL)
        out[size] = 0;
    return out;
}

static void add_embedded(struct include_graph *graph, struct include_edge *edge, const char *path)
{
    if (graph->header_count == 0)
        return;
    const char *wanted = include_normal_path(&graph->arena, path);
    for (size_t i = 0; wanted != NULL && i < graph->header_count; ++i) {
        if (strcmp(wanted, graph->headers[i]->normal) == 0)
            add_target(graph, edge, graph->headers[i]);
    }
}

/* ---- places ---- */

static const char *join(struct include_graph *graph, size_t directory_size, const char *directory,
                        const struct header_name *name)
{
    const bool slash = directory_size != 0 && directory[directory_size - 1] != '/';
    char *path = arena_take(&graph->arena, directory_size + name->size + 2);
    if (path == NULL)
        return NULL;
    if (directory_size != 0)
        memcpy(path, directory, directory_size);
    if (slash)
        path[directory_size] = '/';
    memcpy(path + directory_size + (slash ? 1 : 0), name->text, name->size);
    return path;
}

/* One place: an embedded header of that path, and a file. Says whether the file is there. */
static bool look_in(struct include_graph *graph, struct include_edge *edge, size_t directory_size,
                    const char *directory, const struct header_name *name)
{
    const char *path = join(graph, directory_size, directory, name);
    if (path == NULL)
        return false;
    add_embedded(graph, edge, path);
    struct graph_text *file = text_of_file(graph, path);
    if (file != NULL)
        add_target(graph, edge, file);
    return file != NULL;
}

static size_t directory_size_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

static bool look_in_directories(struct include_graph *graph, struct include_edge *edge, const struct header_name *name)
{
    for (const struct option *option = graph->options; option != NULL; option = option->next) {
        if (option->kind == OPTION_DIRECTORY && look_in(graph, edge, strlen(option->value), option->value, name))
            return true;
    }
    return false;
}

void include_search(struct include_graph *graph, const struct graph_text *text, struct include_edge *edge,
                    const struct header_name *name)
{
    static const char *const system_directories[] = {"/usr/local/include", "/usr/include"};
    if (name->size == 0 || memchr(name->text, 0, name->size) != NULL)
        return;
    if (name->text[0] == '/') {
        look_in(graph, edge, 0, "", name);
        return;
    }
    const size_t own_size = directory_size_of(text->path);
    if (name->kind == HEADER_QUOTED && (own_size != 0 || text->origin == TEXT_FILE)) {
        /* Every compiler looks beside an including file first. */
        if (look_in(graph, edge, own_size, text->path, name) && text->origin == TEXT_FILE)
            return;
    }
    look_in(graph, edge, 0, "", name);
    look_in_directories(graph, edge, name);
    const size_t count = sizeof(system_directories) / sizeof(system_directories[0]);
    for (size_t i = 0; graph->system_directories && edge->target_count == 0 && i < count; ++i)
        look_in(graph, edge, strlen(system_directories[i]), system_directories[i], name);
}

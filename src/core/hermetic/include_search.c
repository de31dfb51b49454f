/*
 * include_search.c - finds the one text that an include means.
 *
 * Files are searched for in the compiler's order, as far as it is known. If the compiler's rules leave the result open,
 * or if both an embedded header and a file have the name, the include becomes a gap (hermetic.h). Directories that the
 * compiler searches by itself, such as /usr/include, are not searched unless an option names them, because an id cannot
 * cover their files.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

#include "core/base/digest.h"

enum { MAX_INCLUDED_FILES = 10000 };

const char include_not_found[] = "was not found";
const char include_not_certain[] = "may mean more than one text";

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

/* ---- a search ---- */

struct search {
    struct source_graph *graph;
    const struct header_name *name;
    struct graph_text *header; /* the first embedded header that was found */
    bool has_two_headers;
    bool has_exact_name; /* true if the name of `header` is exactly the included name */
};

static void note_found_header(struct search *search, struct graph_text *header)
{
    search->has_two_headers = search->has_two_headers || (search->header != NULL && search->header != header);
    if (search->header == NULL)
        search->header = header;
}

static struct graph_text *look_in(struct search *search, size_t directory_size, const char *directory)
{
    struct source_graph *graph = search->graph;
    char *path = arena_take(&graph->arena, directory_size + search->name->size + 2);
    if (path == NULL)
        return NULL;
    char *end = mempcpy(path, directory, directory_size);
    if (directory_size != 0 && end[-1] != '/')
        *end++ = '/';
    memcpy(end, search->name->text, search->name->size);
    const char *wanted = graph->header_count != 0 ? include_normal_path(&graph->arena, path) : NULL;
    for (size_t i = 0; wanted != NULL && i < graph->header_count; ++i) {
        if (strcmp(wanted, graph->headers[i]->normal) == 0)
            note_found_header(search, graph->headers[i]);
    }
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
    const uint64_t left = MAX_TOTAL_BYTES - graph->total_bytes;
    const ingot_status_t status =
        witness_read_file(graph->witness, text->path, (size_t)left, graph_reading(graph), &text->file);
    if (status == INGOT_OUT_OF_MEMORY) {
        graph->status = INGOT_OUT_OF_MEMORY;
    } else if (status == INGOT_NOT_FOUND) {
        text->absent = true;
    } else if (status == INGOT_NO_SPACE) {
        graph->limit = "more than 256 MiB are included";
    } else if (status != INGOT_SUCCESS) {
        text->facts.problem = "content";
        text->facts.problem_clause = "which could not be read";
    } else {
        const struct bytes_writer *content = &text->file->content;
        ++graph->file_count;
        graph->total_bytes += content->size;
        text->bytes = content->size != 0 ? (const char *)content->bytes : "";
        text->size = content->size;
    }
    if (graph->file_count > MAX_INCLUDED_FILES)
        graph->limit = "more than 10000 files are included";
    return text->absent ? NULL : text;
}

/* An order in which a compiler may search the directories. */
struct order {
    ingot_current_directory_t current;
    bool has_late; /* true if late directories (struct directory) come last */
};

/* Searches the late directories, which the compiler searches by default after all others. An option that names such
 * a directory does not change its position. */
static struct graph_text *look_in_late(struct search *search, bool *is_certain)
{
    struct source_graph *graph = search->graph;
    struct os_file_identity late;
    for (const char *const *path = graph_late_directories(graph); *path != NULL; ++path) {
        const struct directory *named = graph->directories;
        if (!witness_identify_directory(graph->witness, *path, &late))
            continue;
        while (named != NULL && !(named->is_late && os_is_same_file(&named->identity, &late)))
            named = named->next;
        const char *directory = named != NULL ? named->path : *path;
        struct graph_text *found = look_in(search, strlen(directory), directory);
        if (found != NULL && named != NULL)
            return found;
        if (found != NULL)
            /* No -I names this directory. A compiler that searches it by itself finds this file, and not one in a later
             * directory that an -I names. */
            *is_certain = false;
    }
    return NULL;
}

static struct graph_text *look_in_list(struct search *search, struct order order, bool *is_certain)
{
    struct graph_text *found = order.current == INGOT_CURRENT_FIRST ? look_in(search, 1, ".") : NULL;
    for (const struct directory *at = search->graph->directories; at != NULL && found == NULL; at = at->next) {
        if (!order.has_late || !at->is_late)
            found = look_in(search, strlen(at->path), at->path);
    }
    if (found == NULL && order.current == INGOT_CURRENT_LAST)
        found = look_in(search, 1, ".");
    const struct directory *late = search->graph->directories;
    while (late != NULL && !late->is_late)
        late = late->next;
    if (found == NULL && order.has_late && late != NULL)
        found = look_in_late(search, is_certain);
    return found;
}

/* Looks for the file of an #include "x.h" beside the including text. If that text is a source, most compilers look
 * in the current directory instead, and some in the directory that is part of the source's name. */
static struct graph_text *look_beside(struct search *search, const struct graph_text *text, bool *is_certain)
{
    const ingot_text_rules_t *rules = search->graph->input->rules;
    const char *slash = strrchr(text->path, '/');
    const size_t own_size = slash == NULL ? 0 : slash == text->path ? 1 : (size_t)(slash - text->path);
    if (text->origin == TEXT_FILE || rules->searches_beside_source)
        return look_in(search, own_size, text->path);
    const struct graph_text *beside = own_size != 0 ? look_in(search, own_size, text->path) : NULL;
    if (rules->current_directory == INGOT_CURRENT_NEVER)
        return NULL;
    struct graph_text *found = look_in(search, 1, ".");
    if (rules->current_directory == INGOT_CURRENT_UNKNOWN && beside != NULL && beside != found)
        *is_certain = false;
    return found;
}

/* Directories that known compilers search last. Assumed for compilers whose rules do not name such directories. */
static const char *const usual_late_directories[] = {"/usr/local/include", "include", "/usr/include", NULL};

const char *const *graph_late_directories(const struct source_graph *graph)
{
    const ingot_text_rules_t *rules = graph->input->rules;
    if (rules->late_directories != NULL)
        return rules->late_directories;
    return rules->current_directory == INGOT_CURRENT_UNKNOWN ? usual_late_directories : usual_late_directories + 3;
}

/* Searches for a file. Sets *is_certain to true if every order that the rules allow finds the same one. */
static struct graph_text *look_for_file(struct search *search, const struct graph_text *text, bool *is_certain)
{
    static const struct order orders[] = {{INGOT_CURRENT_FIRST, false},
                                          {INGOT_CURRENT_FIRST, true},
                                          {INGOT_CURRENT_LAST, false},
                                          {INGOT_CURRENT_LAST, true}};
    const ingot_text_rules_t *rules = search->graph->input->rules;
    *is_certain = true;
    if (search->name->text[0] == '/')
        return look_in(search, 0, "");
    struct graph_text *found = search->name->kind == HEADER_QUOTED ? look_beside(search, text, is_certain) : NULL;
    if (found != NULL)
        return found;
    const struct order order = {rules->current_directory, rules->late_directories != NULL};
    if (rules->current_directory != INGOT_CURRENT_UNKNOWN)
        return look_in_list(search, order, is_certain);
    /* every order that a compiler may use must find the same file */
    found = look_in_list(search, orders[0], is_certain);
    for (size_t i = 1; i < sizeof(orders) / sizeof(orders[0]); ++i)
        *is_certain = look_in_list(search, orders[i], is_certain) == found && *is_certain;
    return found;
}

static bool has_odd_character(const struct header_name *name)
{
    for (size_t i = 0; i < name->size; ++i) {
        const unsigned char c = (unsigned char)name->text[i];
        if (c < ' ' || c == 0x7f || c == '"' || c == '\\')
            return true;
    }
    return name->size == 0;
}

void include_search(struct source_graph *graph, const struct graph_text *text, struct text_event *event,
                    const struct header_name *name)
{
    const char *own = arena_copy(&graph->arena, name->size, name->text);
    const struct header_name wanted = {name->kind, own, name->size};
    event->spelled = own;
    struct search search = {.graph = graph, .name = &wanted};
    bool is_certain = true;
    if (own == NULL)
        return;
    /* Two headers are built into some compilers, which prefer them to files. */
    if (has_odd_character(&wanted) || strcmp(own, "opencl-c.h") == 0 || strcmp(own, "opencl-c-base.h") == 0) {
        event->gap = "names a file that only the compiler can find";
        return;
    }
    /* Every compiler either prefers a header with exactly the included name or at least finds it, wherever the include
     * is. */
    for (size_t i = 0; i < graph->header_count; ++i) {
        if (strcmp(own, graph->headers[i]->path) == 0)
            note_found_header(&search, graph->headers[i]);
    }
    search.has_exact_name = search.header != NULL;
    struct graph_text *file = look_for_file(&search, text, &is_certain);
    /* An embedded header whose name is not exactly the included one is found only by compilers that write embedded
     * headers to files, by its path relative to a source or to another header; the others compare names exactly. */
    const bool is_header_certain =
        search.has_exact_name ||
        (text->origin != TEXT_FILE && graph->input->rules->current_directory != INGOT_CURRENT_NEVER);
    if (!is_certain || search.has_two_headers || (search.header != NULL && (!is_header_certain || file != NULL)))
        event->gap = include_not_certain;
    else if (search.header != NULL || file != NULL)
        event->target = search.header != NULL ? search.header : file;
    else
        event->gap = include_not_found;
}

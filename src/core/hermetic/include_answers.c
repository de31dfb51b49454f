/*
 * include_answers.c - records and replays what each search for an include leads to; see include_answers.h.
 */
#include "core/hermetic/include_answers.h"

#include <string.h>

#include "core/hermetic/source_graph.h"

const char include_replay_misfit[] = "the recorded includes are not those of the sources";

void include_record_init(struct include_record *record, const ingot_allocator_t *allocator)
{
    *record = (struct include_record){.file_count = 0};
    bytes_writer_init(&record->files, allocator);
    bytes_writer_init(&record->same, allocator);
    bytes_writer_init(&record->answers, allocator);
}

void include_record_fini(struct include_record *record)
{
    bytes_writer_fini(&record->files);
    bytes_writer_fini(&record->same);
    bytes_writer_fini(&record->answers);
}

bool include_record_has_failed(const struct include_record *record)
{
    return record->files.failed || record->same.failed || record->answers.failed;
}

/* Returns the number of the first recorded file in this graph that is the same file as `text`, or `number` if there
 * is none. */
static size_t find_same(const struct source_graph *graph, const struct graph_text *text, size_t number)
{
    size_t first = number;
    for (const struct graph_text *other = graph->first; other != NULL; other = other->next) {
        if (other->origin == TEXT_FILE && other->record_number != 0 && other->record_number - 1 < first &&
            os_is_same_file(&other->identity, &text->identity))
            first = other->record_number - 1;
    }
    return first;
}

static void record_file(struct source_graph *graph, struct graph_text *text)
{
    struct include_record *record = graph->record;
    const size_t number = record->file_count++;
    bytes_put_u32(&record->same, (uint32_t)find_same(graph, text, number));
    text->record_number = number + 1;
    bytes_put_framed(&record->files, strlen(text->path), text->path);
    bytes_put_framed(&record->files, text->size, text->bytes);
}

void include_record_add(struct source_graph *graph, const struct text_event *event)
{
    struct include_record *record = graph->record;
    struct graph_text *target = event->target;
    size_t answer = ANSWER_GAP;
    if (target != NULL && target->origin == TEXT_HEADER) {
        answer = ANSWER_HEADER + 2 * target->header_index;
    } else if (target != NULL) {
        if (target->record_number == 0)
            record_file(graph, target);
        answer = ANSWER_FILE + 2 * (target->record_number - 1);
    } else if (event->gap == include_not_found) {
        answer = ANSWER_NOTHING;
    }
    bytes_put_u32(&record->answers, (uint32_t)answer);
}

void include_record_end(struct source_graph *graph)
{
    struct include_record *record = graph->record;
    record->names_matter = record->names_matter || graph->names_matter;
    record->directory_matters = record->directory_matters || graph->has_debug_information;
}

/* Returns a recorded file as a text of the graph. The text is made when the file is first needed. */
static struct graph_text *replay_file(struct source_graph *graph, size_t number)
{
    const struct include_replay *replay = graph->replay;
    if (graph->replayed == NULL)
        graph->replayed = arena_take(&graph->arena, replay->file_count * sizeof(*graph->replayed));
    if (graph->replayed == NULL || graph->replayed[number] != NULL)
        return graph->replayed != NULL ? graph->replayed[number] : NULL;
    const ingot_source_view_t *file = &replay->files[number];
    struct graph_text *text = graph_add_text(graph, TEXT_FILE, file->name);
    if (text == NULL)
        return NULL;
    text->bytes = file->bytes;
    text->size = file->size;
    text->identity = (struct os_file_identity){0, (uint64_t)replay->same[number] + 1};
    graph->total_bytes += file->size;
    if (graph->total_bytes > MAX_TOTAL_BYTES)
        graph->limit = "more than 256 MiB are included";
    graph->replayed[number] = text;
    return text;
}

void include_replay_next(struct source_graph *graph, struct text_event *event)
{
    struct include_replay *replay = graph->replay;
    const uint32_t answer =
        /* if no answer is left, UINT32_MAX, which is never valid */
        replay->next < replay->answer_count ? replay->answers[replay->next] : UINT32_MAX;
    const size_t number = answer / 2 - 1;
    ++replay->next;
    if (answer == ANSWER_NOTHING)
        event->gap = include_not_found;
    else if (answer == ANSWER_GAP)
        event->gap = include_not_certain;
    else if (answer % 2 == 0 && number < graph->header_count)
        event->target = graph->headers[number];
    else if (answer % 2 != 0 && number < replay->file_count)
        event->target = replay_file(graph, number);
    else
        graph->limit = include_replay_misfit;
}

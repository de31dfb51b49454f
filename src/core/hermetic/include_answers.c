/*
 * include_answers.c - records and replays what each search for an include leads to; see include_answers.h.
 */
#include "core/hermetic/include_answers.h"

#include <string.h>

#include "core/base/error.h"
#include "core/hermetic/source_graph.h"

const char include_replay_misfit[] = "the recorded includes are not those of the sources";

void include_record_init(struct include_record *record, const ingot_allocator_t *allocator)
{
    *record = (struct include_record){.status = INGOT_SUCCESS};
    bytes_writer_init(&record->files, allocator);
    bytes_writer_init(&record->numbers, allocator);
    bytes_writer_init(&record->answers, allocator);
}

void include_record_fini(struct include_record *record)
{
    const ingot_source_t *files = (const void *)record->files.bytes;
    for (size_t i = 0; i < record->files.size / sizeof(*files); ++i)
        ingot_source_release(files[i]);
    bytes_writer_fini(&record->files);
    bytes_writer_fini(&record->numbers);
    bytes_writer_fini(&record->answers);
}

ingot_status_t include_record_close(struct include_record *record)
{
    bytes_put(&record->numbers, record->answers.size, record->answers.bytes);
    if (record->files.failed || record->numbers.failed || record->answers.failed)
        return error_out_of_memory();
    return record->status;
}

/* Returns the number of the first recorded file in this graph that is the same file as `text`, or `number` if there
 * is none. */
static size_t find_same_file(const struct source_graph *graph, const struct graph_text *text, size_t number)
{
    size_t first = number;
    for (const struct graph_text *other = graph->first; other != NULL; other = other->next) {
        if (other->origin == TEXT_FILE && other->record_number != 0 && other->record_number - 1 < first &&
            os_is_same_file(&other->identity, &text->identity))
            first = other->record_number - 1;
    }
    return first;
}

static void put_recorded_number(struct bytes_writer *numbers, size_t number)
{
    const uint32_t value = (uint32_t)number;
    bytes_put(numbers, sizeof(value), &value);
}

static void record_file(struct source_graph *graph, struct graph_text *text)
{
    struct include_record *record = graph->record;
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    ingot_source_t file = NULL;
    put_recorded_number(&record->numbers, find_same_file(graph, text, record->file_count));
    text->record_number = ++record->file_count;
    info.kind = INGOT_SOURCE_HEADER;
    info.name = text->path;
    info.size = text->size;
    info.bytes = text->bytes;
    info.allocator = record->files.allocator;
    const ingot_status_t status = ingot_source_create(&file, &info);
    if (status == INGOT_SUCCESS)
        bytes_put(&record->files, sizeof(file), &file);
    if (record->files.failed)
        ingot_source_release(file);
    record->status = record->status == INGOT_SUCCESS ? status : record->status;
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
    put_recorded_number(&record->answers, answer);
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

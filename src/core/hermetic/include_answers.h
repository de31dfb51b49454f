/*
 * include_answers.h - what each search for an include leads to: recorded, or taken from a record instead of the file
 * system.
 *
 * The searches of a program come in an order that depends on its texts alone. So a list of answers and the contents of
 * the files resolve the includes again, without paths.
 */
#ifndef INGOT_CORE_HERMETIC_INCLUDE_ANSWERS_H
#define INGOT_CORE_HERMETIC_INCLUDE_ANSWERS_H

#include "core/base/bytes.h"
#include "core/hermetic/hermetic_input.h"

enum { MAX_INCLUDED_FILES = 10000 };

/* An answer; doc/recipe-format.md. From ANSWER_HEADER on, even numbers are headers and odd ones are files. */
enum { ANSWER_NOTHING, ANSWER_GAP, ANSWER_HEADER, ANSWER_FILE };

/* What a resolution records. */
struct include_record {
    struct bytes_writer files;   /* each a framed path and a framed content */
    struct bytes_writer same;    /* u32 per file: the first file that is the same under another name */
    struct bytes_writer answers; /* u32 each */
    size_t file_count;
    bool names_matter;
    bool directory_matters;
};

/* Answers to take, and the position in them. */
struct include_replay {
    const ingot_source_view_t *files;
    const uint32_t *same;
    size_t file_count;
    const uint32_t *answers;
    size_t answer_count;
    size_t next;
};

void include_record_init(struct include_record *record, const ingot_allocator_t *allocator);
void include_record_fini(struct include_record *record);
bool include_record_has_failed(const struct include_record *record);

/* The sentence for answers that do not fit. */
extern const char include_replay_misfit[];

#endif

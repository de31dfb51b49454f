/*
 * include_answers.h - records what each search for an include leads to, or takes it from a record instead of the file
 * system.
 *
 * The order of a program's searches depends only on its texts. So a list of answers, together with the contents of the
 * files, is enough to resolve the includes again, without paths.
 */
#ifndef INGOT_CORE_HERMETIC_INCLUDE_ANSWERS_H
#define INGOT_CORE_HERMETIC_INCLUDE_ANSWERS_H

#include "core/base/bytes.h"
#include "core/hermetic/hermetic_input.h"

enum { MAX_INCLUDED_FILES = 10000 };

/* The answer to a search. From ANSWER_HEADER on, even numbers are headers and odd ones are
 * files. */
enum { ANSWER_NOTHING, ANSWER_GAP, ANSWER_HEADER, ANSWER_FILE };

/* A record of all searches of a resolution. Numbers are of type uint32_t. */
struct include_record {
    struct bytes_writer files;   /* a source object per file, whose name is the file's path */
    struct bytes_writer numbers; /* per file: number of the first file that is the same under another name, or its own
                                  * number */
    struct bytes_writer answers; /* a number per search */
    size_t file_count;
    bool names_matter;
    bool directory_matters;
    /* the first failure. INGOT_INVALID_ARGUMENTS: a file cannot be a source object, because it has a NUL byte */
    ingot_status_t status;
};

/* Recorded answers, and the position of the next one. */
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
/* Ends the record: appends the `answers` array to the `numbers` array. Returns the record's status. */
ingot_status_t include_record_close(struct include_record *record);

/* The error message if the answers do not fit the sources. */
extern const char include_replay_misfit[];

#endif

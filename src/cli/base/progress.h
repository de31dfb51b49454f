/*
 * progress.h - shows the progress of long work on standard error, if that is a terminal, and makes it end after the
 * current entry when the user presses Ctrl-C.
 *
 * The only reason for the latter is that the findings so far are then still reported. Killing the process at any point
 * would not harm a store. A second Ctrl-C kills the process.
 */
#ifndef INGOT_CLI_BASE_PROGRESS_H
#define INGOT_CLI_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    uint64_t shown_ns; /* when the line was last written; 0: not yet */
    bool is_shown;
};

void progress_init(struct progress *progress, const char *what);
/* Writes the line, at most ten times per second. */
void progress_say(struct progress *progress, const char *text);
/* Writes the line with a number of entries and their size. total: 0 if unknown. */
void progress_tell(struct progress *progress, uint64_t done, uint64_t total, uint64_t bytes);
/* Clears the line, so that the next output starts on an empty line. */
void progress_fini(struct progress *progress);

void interrupt_catch(void);
bool interrupt_seen(void);

#endif

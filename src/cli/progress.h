/*
 * progress.h - how far long work is, on standard error where that is a terminal.
 */
#ifndef INGOT_CLI_PROGRESS_H
#define INGOT_CLI_PROGRESS_H

#include <ingot/persist.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    uint64_t shown_ns; /* when the line was last written; 0: not yet */
    bool is_shown;
};

void progress_init(struct progress *progress, const char *what);
/* Writes the line, ten times per second at most. total 0: not known. */
void progress_tell(struct progress *progress, uint64_t done, uint64_t total, uint64_t bytes);
/* An ingot_persist_upkeep_callback_t, whose user is a progress. Ends the work at an interrupt. */
int progress_follow_upkeep(const ingot_persist_upkeep_progress_t *so_far, void *user);
/* Wipes the line, so that what is printed next stands alone. */
void progress_fini(struct progress *progress);

#endif

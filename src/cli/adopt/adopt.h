/*
 * adopt.h - `ingot run --adopt KIND=DIRECTORY`: fills a tool's cache directory from the store before a command runs,
 * and stores new files when it has ended.
 */
#ifndef INGOT_CLI_ADOPT_ADOPT_H
#define INGOT_CLI_ADOPT_ADOPT_H

#include <stdbool.h>

struct adopted;

/* Adds a directory to a list, which may be NULL. Returns NULL if `text` is not KIND=DIRECTORY with a known kind. */
struct adopted *adopt_add(struct adopted *list, const char *text);
/* Fills the directories. What fails is printed, and that directory is left alone from then on. */
void adopt_fill(struct adopted *list, char **command);
/* Stores new files, and closes the stores. */
void adopt_keep(struct adopted *list);

#endif

/*
 * folder.h - removes folders through descriptors, so that a link that another user places in the parent folder cannot
 * lead the tool to other files.
 */
#ifndef INGOT_CLI_BASE_FOLDER_H
#define INGOT_CLI_BASE_FOLDER_H

#include <stdbool.h>

/* Removes a folder of this user and everything in it, without following links. Returns false and sets errno if
 * something is left. */
bool folder_remove(const char *path);

#endif

/*
 * folder.h - opens, creates and removes folders through descriptors. If another user can write to the parent folder, a
 * link placed there cannot lead the tool to other files.
 *
 * Functions that return a descriptor return -1 and set errno on failure.
 */
#ifndef INGOT_CLI_BASE_FOLDER_H
#define INGOT_CLI_BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Creates a folder and opens it. Fails if it exists. */
int folder_make(int at, const char *name);
/* Opens a folder that the user has named, which may be a link. Creates it if it is missing. */
int folder_open_output(const char *path);

/* Creates a file and writes all bytes to it. Returns false and sets errno on failure, also if it exists. */
bool folder_create_file(int at, const char *name, size_t size, const void *bytes);

/* Removes a folder of this user and everything in it, without following links. Returns false and sets errno if
 * something is left. */
bool folder_remove(const char *path);

#endif

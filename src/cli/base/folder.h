/*
 * folder.h - creates and removes folders through descriptors, so that another user who can write to the folder around
 * them cannot lead the tool elsewhere by a link.
 */
#ifndef INGOT_CLI_BASE_FOLDER_H
#define INGOT_CLI_BASE_FOLDER_H

#include <stdbool.h>

/* Opens the folder in which an object is, and sets *name to the object's name. Returns -1 and sets errno on failure. */
int folder_open_parent(const char *path, const char **name);
/* Creates a folder and opens it. Fails if it exists. Returns -1 and sets errno on failure. */
int folder_make(int at, const char *name);
/* Removes a folder of this user and everything in it, without following links. Returns false and sets errno if
 * something is left. */
bool folder_remove(const char *path);

#endif

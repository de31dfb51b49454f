/*
 * headers.h - writes a program's embedded headers to files, for a compiler that can include only files.
 */
#ifndef TINYCC_HEADERS_H
#define TINYCC_HEADERS_H

#include <ingot/backend.h>

enum { HEADER_DIRECTORY_SIZE = 1024 };

/* Writes the request's headers to a new private directory, and sets `directory` to its path, or to "" if there are no
 * headers. On failure, removes the directory. */
ingot_status_t headers_write(const ingot_build_request_t *request, char directory[HEADER_DIRECTORY_SIZE]);
/* Removes the directory and its content. */
void headers_remove(const char *directory);

#endif

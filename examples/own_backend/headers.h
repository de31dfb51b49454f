/*
 * headers.h - a program's embedded headers, as files for a compiler that includes nothing else.
 */
#ifndef TINYCC_HEADERS_H
#define TINYCC_HEADERS_H

#include <ingot/backend.h>

enum { HEADER_DIRECTORY_SIZE = 1024 };

/* Writes the request's headers into a new private directory; "" where there are none. Removes it if it fails. */
ingot_status_t headers_write(const ingot_build_request_t *request, char directory[HEADER_DIRECTORY_SIZE]);
/* Removes the directory and what is in it. */
void headers_remove(const char *directory);

#endif

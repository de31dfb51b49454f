/*
 * library.h - what all uses of libcurl share: its initialization, the options of its handles, and its errors.
 */
#ifndef INGOT_REMOTE_CURL_LIBRARY_H
#define INGOT_REMOTE_CURL_LIBRARY_H

#include <curl/curl.h>
#include <ingot/ingot.h>

#include "remote/base/request.h"
#include "remote/curl/access.h"
#include "remote/curl/sockets.h"

/* Initializes libcurl once in the process.
 * @retval INGOT_UNIMPLEMENTED  libcurl is missing or too old, which only a library that opens it itself can find.
 * @retval INGOT_OUT_OF_MEMORY  libcurl cannot be used. */
ingot_status_t library_init(void);

/* Sets the options that do not depend on the protocol. `error` receives the text of an error; it and `sockets` must
 * outlive the handle's use. */
CURLcode library_apply(CURL *easy, const struct request *request, const struct access *access, struct sockets *sockets,
                       char error[CURL_ERROR_SIZE]);

/* Returns the outcome of a failed call for a handle, and writes the request's error message. error: the text that
 * libcurl wrote, or "". */
enum outcome library_explain(CURL *easy, CURLcode code, const char *error, struct request *request);

#endif

/*
 * http.h - the transport to HTTP servers: GET, PUT, DELETE and HEAD, also with the signatures of S3.
 */
#ifndef INGOT_REMOTE_HTTP_HTTP_H
#define INGOT_REMOTE_HTTP_HTTP_H

#include <ingot/ingot.h>

#include "remote/base/transport.h"
#include "remote/curl/access.h"

/* Does not connect yet. access, name_space: valid as long as the transport.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY */
ingot_status_t http_open(struct transport *transport, const struct access *access, const char *name_space);

#endif

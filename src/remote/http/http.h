/*
 * http.h - the transport to HTTP servers: GET, PUT, DELETE and HEAD, also with the signatures of S3.
 */
#ifndef INGOT_REMOTE_HTTP_HTTP_H
#define INGOT_REMOTE_HTTP_HTTP_H

#include <ingot/ingot.h>

#include "remote/base/transport.h"
#include "remote/settings/url.h"

/* Does not connect yet.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY */
ingot_status_t http_open(struct transport *transport, const struct url *url, const char *name_space);

#endif

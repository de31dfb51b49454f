/*
 * compile.h - compiles a build request to the bytes of a shared object.
 */
#ifndef TINYCC_COMPILE_H
#define TINYCC_COMPILE_H

#include <ingot/backend.h>

/*
 * Compiles the request's sources, for a device with these lanes, into one shared object. *image is malloc'ed.
 * INGOT_BUILD_FAILED: the compiler rejected them; its messages are in the log and the first one in the detail.
 */
ingot_status_t compile(const ingot_build_request_t *request, uint32_t lanes, ingot_sink_t *log, uint8_t **image,
                       size_t *size);

#endif

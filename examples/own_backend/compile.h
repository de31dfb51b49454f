/*
 * compile.h - compiles a build request to the bytes of a shared object.
 */
#ifndef TINYCC_COMPILE_H
#define TINYCC_COMPILE_H

#include <ingot/backend.h>

/*
 * Compiles the request's sources, for a device with this many lanes, into one shared object. The caller frees
 * *image. Returns INGOT_BUILD_FAILED if the compiler rejected the sources. The compiler's messages are then in the
 * log, and the first error is the error detail.
 */
ingot_status_t compile(const ingot_build_request_t *request, uint32_t lanes, ingot_sink_t *log, uint8_t **image,
                       size_t *size);

#endif

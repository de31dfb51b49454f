/*
 * build_log.h - what the compilers said.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_BUILD_LOG_H
#define INGOT_BACKENDS_CUDA_COMPILER_BUILD_LOG_H

#include <ingot/backend.h>

/* A refusal of the program in words of our own: to the log, and INGOT_BUILD_FAILED with the same detail. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
ingot_status_t
cuda_refuse_program(ingot_sink_t *log, const char *format, ...);

#endif

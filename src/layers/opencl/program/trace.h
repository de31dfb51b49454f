/*
 * trace.h - tells INGOT_TRACE what passed through, and why.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H

#include "layers/opencl/program/shadow.h"

/* For the thread that works on the shadow. */
void trace_passed(const struct shadow *shadow, ingot_status_t status, const char *reason);

#endif

/*
 * arguments.h - which devices a build, a compilation or a link is for.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_ARGUMENTS_H
#define INGOT_LAYERS_OPENCL_CALLS_ARGUMENTS_H

#include "layers/opencl/program/shadow.h"

enum arguments { ARGUMENTS_WRONG, ARGUMENTS_SOME_DEVICES, ARGUMENTS_ALL_DEVICES };

/* Judges a call for the shadow's program, which has a native one. */
enum arguments arguments_judge(struct shadow *shadow, cl_uint count, const cl_device_id *devices,
                               program_callback_t notify, const void *user);

#endif

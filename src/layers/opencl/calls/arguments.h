/*
 * arguments.h - checks the arguments of a build or a compilation, and whether it is for all devices of the program.
 */
#ifndef INGOT_LAYERS_OPENCL_CALLS_ARGUMENTS_H
#define INGOT_LAYERS_OPENCL_CALLS_ARGUMENTS_H

#include "layers/opencl/program/shadow.h"

enum arguments { ARGUMENTS_WRONG, ARGUMENTS_SOME_DEVICES, ARGUMENTS_ALL_DEVICES };

/* Checks the arguments of a call to build or compile the shadow's program. */
enum arguments arguments_judge(struct shadow *shadow, cl_uint count, const cl_device_id *devices,
                               program_callback_t notify, const void *user);

#endif

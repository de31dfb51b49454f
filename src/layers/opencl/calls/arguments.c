/*
 * arguments.c - checks the arguments of a build or a compilation, and whether it is for all devices of the program.
 */
#include "layers/opencl/calls/arguments.h"

#define MAX_DEVICES 64u

static bool contains(cl_uint count, const cl_device_id *devices, cl_device_id device)
{
    cl_uint at = 0;
    while (at < count && devices[at] != device)
        ++at;
    return at < count;
}

static enum arguments judge_devices(cl_program native, cl_uint count, const cl_device_id *devices)
{
    cl_device_id own[MAX_DEVICES];
    size_t size = 0;
    if (count == 0)
        return ARGUMENTS_ALL_DEVICES;
    if (layer_target.clGetProgramInfo(native, CL_PROGRAM_DEVICES, sizeof(own), own, &size) != CL_SUCCESS)
        return ARGUMENTS_SOME_DEVICES;
    const cl_uint own_count = (cl_uint)(size / sizeof(own[0]));
    for (cl_uint i = 0; i < count; ++i) {
        if (!contains(own_count, own, devices[i]))
            return ARGUMENTS_WRONG;
    }
    for (cl_uint i = 0; i < own_count; ++i) {
        if (!contains(count, devices, own[i]))
            return ARGUMENTS_SOME_DEVICES;
    }
    return count == own_count ? ARGUMENTS_ALL_DEVICES : ARGUMENTS_SOME_DEVICES;
}

enum arguments arguments_judge(struct shadow *shadow, cl_uint count, const cl_device_id *devices,
                               program_callback_t notify, const void *user)
{
    if ((count == 0) != (devices == NULL) || (notify == NULL && user != NULL))
        return ARGUMENTS_WRONG;
    struct shadow_use use = shadow_begin_use((cl_program)(void *)shadow); /* because shadow->native may be NULL */
    const enum arguments arguments = judge_devices(use.native, count, devices);
    shadow_end_use(&use);
    return arguments;
}

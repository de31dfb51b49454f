/*
 * lifetime.c - implements references, release callbacks and specialization constants of programs, and releases
 * kernels and contexts.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/calls/native_call.h"

cl_int CL_API_CALL layer_retain(cl_program program)
{
    struct shadow *shadow = shadow_find(program);
    if (shadow == NULL)
        return layer_target.clRetainProgram(program);
    reclaim_retain(shadow);
    return CL_SUCCESS;
}

cl_int CL_API_CALL layer_release(cl_program program)
{
    struct shadow *shadow = shadow_find(program);
    if (shadow == NULL)
        return layer_target.clReleaseProgram(program);
    if (!reclaim_release(shadow))
        return CL_INVALID_PROGRAM;
    reclaim_try(program);
    return CL_SUCCESS;
}

cl_int CL_API_CALL layer_release_kernel(cl_kernel kernel)
{
    cl_program program = NULL;
    if (reclaim_is_due())
        (void)layer_target.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(program), &program, NULL);
    const cl_int error = layer_target.clReleaseKernel(kernel);
    reclaim_try(program); /* another thread may have released the program in the meantime */
    return error;
}

/* Tries to destroy all waiting shadows (program/program.h), because a kernel that was still running when the
 * application released it may have ended by now. */
cl_int CL_API_CALL layer_release_context(cl_context context)
{
    reclaim_try_all();
    return layer_target.clReleaseContext(context);
}

cl_int CL_API_CALL layer_set_release_callback(cl_program program, program_callback_t notify, void *user)
{
    struct callback_pair callback;
    const cl_program native = shadow_find_native(program);
    if (native == program)
        return layer_target.clSetProgramReleaseCallback(native, notify, user);
    if (!callback_pair_init(&callback, program, notify, user))
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int error = layer_target.clSetProgramReleaseCallback(native, callback.notify, callback.user);
    callback_end_call(callback.callback, error != CL_SUCCESS);
    return error;
}

/* Records a constant. Returns false if builds through Ingot could not use it. */
static bool keep_constant(struct shadow *shadow, cl_uint id, size_t size, const void *value)
{
    size_t at = 0;
    if (size > SHADOW_MAX_CONSTANT)
        return false;
    while (at < shadow->constant_count && shadow->constants[at].id != id)
        ++at;
    if (at == shadow->constant_count) {
        struct shadow_constant *more = realloc(shadow->constants, (at + 1) * sizeof(*more));
        if (more == NULL)
            return false;
        shadow->constants = more;
        ++shadow->constant_count;
    }
    shadow->constants[at] = (struct shadow_constant){.id = id, .size = (cl_uint)size};
    memcpy(shadow->constants[at].value, value, size);
    return true;
}

cl_int CL_API_CALL layer_set_spec_constant(cl_program program, cl_uint id, size_t size, const void *value)
{
    struct shadow *shadow = shadow_find(program);
    if (shadow == NULL)
        return layer_target.clSetProgramSpecializationConstant(program, id, size, value);
    if (shadow->kind != INGOT_SOURCE_SPIRV) /* PoCL aborts if the program is not built */
        return layer_target.clSetProgramSpecializationConstant(shadow_find_built(program), id, size, value);
    shadow_begin_work(shadow, false);
    const cl_int error = layer_target.clSetProgramSpecializationConstant(shadow->native, id, size, value);
    if (error == CL_SUCCESS && !keep_constant(shadow, id, size, value))
        shadow->is_drivers = true;
    shadow_end_work(shadow);
    return error;
}

/*
 * refuse_loaded_kernels.c - a library for preloading that makes an OpenCL driver refuse kernels of programs that were
 * made from a binary.
 *
 * No available driver does that by itself. Some drivers examine a binary closely only when a kernel is made from it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>

static _Atomic(cl_program) loaded; /* made from a binary; the last program is enough here */

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                              const cl_device_id *devices, const size_t *sizes,
                                                              const unsigned char **binaries, cl_int *statuses,
                                                              cl_int *error)
{
    cl_program (*create)(cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *,
                         cl_int *);
    *(void **)&create = dlsym(RTLD_NEXT, "clCreateProgramWithBinary");
    cl_program program = create(context, count, devices, sizes, binaries, statuses, error);
    atomic_store(&loaded, program);
    return program;
}

/* A new program may have the address of a released one, which is then forgotten. */
CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                              const size_t *lengths, cl_int *error)
{
    cl_program (*create)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    *(void **)&create = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    cl_program program = create(context, count, strings, lengths, error);
    cl_program same = program;
    (void)atomic_compare_exchange_strong(&loaded, &same, NULL);
    return program;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    cl_kernel (*create)(cl_program, const char *, cl_int *);
    *(void **)&create = dlsym(RTLD_NEXT, "clCreateKernel");
    if (program != NULL && program == atomic_load(&loaded)) {
        if (error != NULL)
            *error = CL_INVALID_KERNEL_DEFINITION;
        return NULL;
    }
    return create(program, name, error);
}

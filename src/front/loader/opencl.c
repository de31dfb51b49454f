/*
 * opencl.c - binds the OpenCL backend to the loader at run time.
 *
 * libingot-opencl is linked with the loader (libOpenCL.so.1) and creates contexts in backends/opencl/loader.c, which
 * this file replaces. If the application has loaded the loader already, dlopen returns the same one.
 */
#include "front/loader/opencl.h"

#include <ingot/backend.h>
#include <ingot/private/opencl.h>
#include <pthread.h>

#include "backends/opencl/functions.h"
#include "util/library.h"

#define LOADER "libOpenCL.so.1"
#define SYMBOL(name) {#name, offsetof(cl_icd_dispatch, name)},

/* Those of the backend, and one that this library calls. */
static const struct library_symbol required[] = {OPENCL_EACH_FUNCTION(SYMBOL) SYMBOL(clRetainProgram)};
static const struct library_symbol optional[] = {OPENCL_EACH_NEWER_FUNCTION(SYMBOL)};

typedef void(CL_CALLBACK *build_callback_t)(cl_program program, void *user);

static cl_int(CL_API_CALL *build_of_loader)(cl_program, cl_uint, const cl_device_id *, const char *, build_callback_t,
                                            void *);
static cl_icd_dispatch table; /* with a clBuildProgram of this file */
static char failure[256];     /* "" if the loader is open */
static pthread_once_t is_open = PTHREAD_ONCE_INIT;

static _Thread_local cl_program *place_of_refused; /* NULL: the thread keeps no program */

cl_program *loader_opencl_keep_refused(cl_program *program)
{
    cl_program *const before = place_of_refused;
    place_of_refused = program;
    return before;
}

/* Keeps a program that the driver refused to build, because the application may ask for its state and its build log.
 * The backend releases its own reference. */
static void keep_refused(cl_program program)
{
    if (table.clRetainProgram(program) != CL_SUCCESS)
        return;
    if (*place_of_refused != NULL)
        (void)table.clReleaseProgram(*place_of_refused);
    *place_of_refused = program;
}

static cl_int CL_API_CALL build_and_keep_refused(cl_program program, cl_uint device_count, const cl_device_id *devices,
                                                 const char *options, build_callback_t callback, void *user)
{
    const cl_int error = build_of_loader(program, device_count, devices, options, callback, user);
    if (error != CL_SUCCESS && place_of_refused != NULL)
        keep_refused(program);
    return error;
}

static void open_loader(void)
{
    const char *missing = library_open(LOADER, sizeof(required) / sizeof(required[0]), required, &table);
    if (missing != NULL) {
        (void)snprintf(failure, sizeof(failure), "there is no OpenCL loader (" LOADER "): %s", missing);
        return;
    }
    build_of_loader = table.clBuildProgram;
    table.clBuildProgram = build_and_keep_refused;
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); ++i)
        (void)library_open(LOADER, 1, &optional[i], &table);
}

const cl_icd_dispatch *loader_opencl(void)
{
    (void)pthread_once(&is_open, open_loader);
    if (failure[0] == '\0')
        return &table;
    (void)ingot_set_error_detail(INGOT_UNIMPLEMENTED, "%s", failure);
    return NULL;
}

ingot_status_t ingot_opencl_context_create(ingot_context_t *context, cl_context cl_context, uint32_t device_count,
                                           const cl_device_id *devices, const ingot_context_info_t *info)
{
    const cl_icd_dispatch *functions = loader_opencl();
    if (functions == NULL)
        return INGOT_UNIMPLEMENTED;
    return ingot_opencl_context_create_with(context, functions, cl_context, device_count, devices, info);
}

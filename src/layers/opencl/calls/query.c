/*
 * query.c - implements clGetProgramInfo and clGetProgramBuildInfo.
 *
 * The native program answers queries that do not depend on the build, and the result (program/program.h) answers the
 * others. The build's options and log are recorded, and so are some of the driver's answers about a program that it
 * linked.
 */
#include <string.h>

#include "front/lock.h"
#include "layers/opencl/program/program.h"

static cl_int get_reference_count(struct shadow *shadow, size_t capacity, void *value, size_t *size_ret)
{
    lock_take();
    cl_uint count = shadow->references;
    lock_give();
    count += shadow_count_uses(shadow) + shadow->first_references - 1;
    return layer_answer(sizeof(count), &count, capacity, value, size_ret);
}

static cl_int get_info(const struct shadow_use *use, cl_program_info name, size_t capacity, void *value,
                       size_t *size_ret)
{
    cl_program asked = NULL;
    switch (name) {
    case CL_PROGRAM_REFERENCE_COUNT: return get_reference_count(use->shadow, capacity, value, size_ret);
    case CL_PROGRAM_SOURCE:
    case CL_PROGRAM_IL:
    case CL_PROGRAM_CONTEXT:
    case CL_PROGRAM_NUM_DEVICES:
    case CL_PROGRAM_DEVICES: asked = use->shadow->native; break;
    default: asked = use->native; break;
    }
    return layer_target.clGetProgramInfo(asked, name, capacity, value, size_ret);
}

cl_int CL_API_CALL layer_get_program_info(cl_program program, cl_program_info name, size_t capacity, void *value,
                                          size_t *size_ret)
{
    struct shadow_use use = shadow_begin_use(program);
    const cl_int error = use.shadow != NULL ? get_info(&use, name, capacity, value, size_ret)
                                            : layer_target.clGetProgramInfo(program, name, capacity, value, size_ret);
    shadow_end_use(&use);
    return error;
}

static bool is_building(struct shadow *shadow)
{
    lock_take();
    const bool is_so = shadow->is_building;
    lock_give();
    return is_so;
}

/* Answers a query with a recorded text, after the driver has checked the arguments. */
static cl_int get_recorded(const struct shadow_use *use, cl_device_id device, cl_program_build_info name,
                           const char *text, size_t capacity, void *value, size_t *size_ret)
{
    size_t size = 0;
    const cl_int error = layer_target.clGetProgramBuildInfo(use->native, device, name, 0, NULL, &size);
    return error != CL_SUCCESS ? error : layer_answer(strlen(text) + 1, text, capacity, value, size_ret);
}

/* Answers for a build that was refused because nothing may be compiled. Returns false if the last build was not. */
static bool get_of_miss(const struct shadow_use *use, cl_device_id device, cl_program_build_info name, size_t capacity,
                        void *value, size_t *size_ret, cl_int *error)
{
    const cl_build_status refused = CL_BUILD_ERROR;
    char *reason = shadow_copy_miss(use->shadow);
    const bool is_known = reason != NULL && (name == CL_PROGRAM_BUILD_STATUS || name == CL_PROGRAM_BUILD_LOG);
    if (is_known && name == CL_PROGRAM_BUILD_LOG)
        *error = get_recorded(use, device, CL_PROGRAM_BUILD_STATUS, reason, capacity, value, size_ret);
    else if (is_known)
        *error = layer_answer(sizeof(refused), &refused, capacity, value, size_ret);
    free(reason);
    return is_known;
}

static cl_int get_build_info(const struct shadow_use *use, cl_device_id device, cl_program_build_info name,
                             size_t capacity, void *value, size_t *size_ret)
{
    const cl_build_status in_progress = CL_BUILD_IN_PROGRESS;
    cl_int error = CL_SUCCESS;
    if (name == CL_PROGRAM_BUILD_STATUS && is_building(use->shadow))
        return layer_answer(sizeof(in_progress), &in_progress, capacity, value, size_ret);
    if (get_of_miss(use, device, name, capacity, value, size_ret, &error))
        return error;
    if (use->result != NULL && name == CL_PROGRAM_BUILD_OPTIONS)
        return get_recorded(use, device, name, use->result->options, capacity, value, size_ret);
    if (use->result != NULL && name == CL_PROGRAM_BUILD_LOG)
        return get_recorded(use, device, name, use->result->log, capacity, value, size_ret);
    if (name == CL_PROGRAM_BUILD_LOG) {
        /* the driver's log, after the messages of earlier builds that it lacks */
        const char *earlier = use->shadow->earlier_log;
        char *own = earlier != NULL ? compiler_read_log(use->native, device) : NULL;
        char *joined = own != NULL ? result_join_logs(earlier, own) : NULL;
        error = joined != NULL
                    ? get_recorded(use, device, name, joined, capacity, value, size_ret)
                    : layer_target.clGetProgramBuildInfo(use->native, device, name, capacity, value, size_ret);
        free(joined);
        free(own);
        return error;
    }
    return layer_target.clGetProgramBuildInfo(use->native, device, name, capacity, value, size_ret);
}

cl_int CL_API_CALL layer_get_build_info(cl_program program, cl_device_id device, cl_program_build_info name,
                                        size_t capacity, void *value, size_t *size_ret)
{
    struct shadow_use use = shadow_begin_use(program);
    const cl_int error = use.shadow != NULL
                             ? get_build_info(&use, device, name, capacity, value, size_ret)
                             : layer_target.clGetProgramBuildInfo(program, device, name, capacity, value, size_ret);
    shadow_end_use(&use);
    return error;
}

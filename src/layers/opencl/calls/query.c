/*
 * query.c - implements clGetProgramInfo and clGetProgramBuildInfo.
 *
 * The native program answers queries that do not depend on the build, and the result (program/result.h) answers the
 * others. The build's options and log are recorded, and so are some of the driver's answers about a program that it
 * linked.
 */
#include <string.h>

#include "layers/opencl/lock.h"
#include "layers/opencl/program/shadow.h"

static cl_int get_reference_count(struct shadow *shadow, size_t capacity, void *value, size_t *size_ret)
{
    lock_take();
    cl_uint count = shadow->references;
    lock_release();
    count += shadow_count_uses(shadow) + shadow->first_references - 1;
    return layer_answer(sizeof(count), &count, capacity, value, size_ret);
}

/* Returns the program whose binaries the application gets. A blob has only what the driver needs to load it. The
 * application may want more, such as intermediate code, so it gets the binaries of a fresh build. */
static cl_program with_binaries(const struct shadow_use *use)
{
    const bool is_whole =
        use->result == NULL || !use->result->is_loaded || contexts_generate_code_at_launch(use->shadow->context);
    const cl_program twin = is_whole ? NULL : shadow_use_twin(use);
    return twin != NULL ? twin : use->native;
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
    case CL_PROGRAM_BINARY_SIZES:
    case CL_PROGRAM_BINARIES: asked = with_binaries(use); break;
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
    lock_release();
    return is_so;
}

/* True if drivers may report these options with other blanks or words. PoCL drops blanks, replaces words, and adds
 * those of a variable. Intel's driver removes words. */
static bool may_be_rewritten(const char *options)
{
    static const char *const words[] = {"-cl-denorms-are-zero", "-cl-uniform-work-group-size",
                                        "-cl-intel-greater-than-4GB-buffer-required", "-cl-intel-gtpin-rera"};
    bool was_blank = true;
    if (secure_getenv("POCL_EXTRA_BUILD_FLAGS") != NULL)
        return true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i)
        if (strstr(options, words[i]) != NULL)
            return true;
    for (const char *at = options; *at != '\0'; ++at) {
        const bool is_blank = strchr(" \t\n\v\f\r", *at) != NULL;
        if (is_blank && (was_blank || *at != ' '))
            return true;
        was_blank = is_blank;
    }
    return was_blank && *options != '\0';
}

/* Answers a query with a recorded text, after the driver has checked the arguments. */
static cl_int get_recorded(const struct shadow_use *use, cl_device_id device, cl_program_build_info name,
                           const char *text, size_t capacity, void *value, size_t *size_ret)
{
    size_t size = 0;
    const cl_int error = layer_target.clGetProgramBuildInfo(use->native, device, name, 0, NULL, &size);
    return error != CL_SUCCESS ? error : layer_answer(strlen(text) + 1, text, capacity, value, size_ret);
}

/* Answers with the options that the application gave. If drivers may report them differently, the driver answers about
 * another program with these options. */
static cl_int get_options(const struct shadow_use *use, cl_device_id device, size_t capacity, void *value,
                          size_t *size_ret)
{
    const cl_program_build_info name = CL_PROGRAM_BUILD_OPTIONS;
    const cl_program twin = may_be_rewritten(use->result->options) ? shadow_use_options_twin(use) : NULL;
    if (twin != NULL)
        return layer_target.clGetProgramBuildInfo(twin, device, name, capacity, value, size_ret);
    return get_recorded(use, device, name, use->result->options, capacity, value, size_ret);
}

static cl_int get_build_info(const struct shadow_use *use, cl_device_id device, cl_program_build_info name,
                             size_t capacity, void *value, size_t *size_ret)
{
    const cl_build_status in_progress = CL_BUILD_IN_PROGRESS;
    if (name == CL_PROGRAM_BUILD_STATUS && is_building(use->shadow))
        return layer_answer(sizeof(in_progress), &in_progress, capacity, value, size_ret);
    if (use->result != NULL && name == CL_PROGRAM_BUILD_OPTIONS)
        return get_options(use, device, capacity, value, size_ret);
    if (use->result != NULL && name == CL_PROGRAM_BUILD_LOG)
        return get_recorded(use, device, name, use->result->log, capacity, value, size_ret);
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

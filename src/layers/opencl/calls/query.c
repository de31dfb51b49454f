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
    const bool is_whole = use->result == NULL || !use->result->is_loaded || use->result->is_whole ||
                          contexts_generate_code_at_launch(use->shadow->context);
    const cl_program twin = is_whole ? NULL : shadow_use_twin(use);
    return twin != NULL ? twin : use->native;
}

/* Answers a query with the answer that the driver gave when it linked the program. */
static cl_int get_fact(const struct result *result, cl_program_info name, size_t capacity, void *value,
                       size_t *size_ret)
{
    const struct piece *piece = piece_of_link(result->program);
    const struct fact *fact = piece->facts;
    while (fact < piece->facts + FACT_COUNT && fact->name != name)
        ++fact;
    if (fact == piece->facts + FACT_COUNT)
        return CL_INVALID_VALUE;
    return fact->error != CL_SUCCESS ? fact->error : layer_answer(fact->size, fact->bytes, capacity, value, size_ret);
}

static cl_int get_info(const struct shadow_use *use, cl_program_info name, size_t capacity, void *value,
                       size_t *size_ret)
{
    const bool is_linked = use->result != NULL && use->shadow->recipe != NULL; /* linked, and loaded from the store */
    cl_program asked = NULL;
    switch (name) {
    case CL_PROGRAM_REFERENCE_COUNT: return get_reference_count(use->shadow, capacity, value, size_ret);
    case CL_PROGRAM_SOURCE:
    case CL_PROGRAM_IL:
        if (is_linked)
            return get_fact(use->result, name, capacity, value, size_ret);
        asked = use->shadow->native;
        break;
    case CL_PROGRAM_CONTEXT:
    case CL_PROGRAM_NUM_DEVICES:
    case CL_PROGRAM_DEVICES: asked = is_linked ? use->native : use->shadow->native; break;
    case CL_PROGRAM_BINARY_SIZES:
    case CL_PROGRAM_BINARIES: asked = use->result != NULL ? with_binaries(use) : shadow_use_compiled(use); break;
    default: asked = shadow_use_compiled(use); break;
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
 * those of a variable. Intel's driver removes words from compilations and links. */
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

/* Answers a query about a compiled object. Returns false if the driver must answer. */
static bool get_of_object(const struct shadow_use *use, cl_device_id device, cl_program_build_info name,
                          size_t capacity, void *value, size_t *size_ret, cl_int *error)
{
    const cl_build_status success = CL_BUILD_SUCCESS;
    const cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    const struct object *object = use->object;
    const char *options = object != NULL && object->options != NULL ? object->options : "";
    bool is_known = object != NULL && device == use->shadow->context->devices[0] &&
                    !(name == CL_PROGRAM_BUILD_OPTIONS && may_be_rewritten(options));
    switch (is_known ? name : 0) {
    case CL_PROGRAM_BUILD_STATUS: *error = layer_answer(sizeof(success), &success, capacity, value, size_ret); break;
    case CL_PROGRAM_BINARY_TYPE: *error = layer_answer(sizeof(type), &type, capacity, value, size_ret); break;
    case CL_PROGRAM_BUILD_OPTIONS:
        *error = layer_answer(strlen(options) + 1, options, capacity, value, size_ret);
        break;
    case CL_PROGRAM_BUILD_LOG:
        *error = layer_answer(strlen(object->log) + 1, object->log, capacity, value, size_ret);
        break;
    default: is_known = false; break;
    }
    return is_known;
}

/* Returns the program that answers for the driver. That of an object was compiled with the options of Ingot's request,
 * so for the application's options, another program is compiled with these. */
static cl_program get_answering(const struct shadow_use *use, cl_program_build_info name)
{
    const cl_program twin =
        use->object != NULL && name == CL_PROGRAM_BUILD_OPTIONS ? shadow_use_options_twin(use) : NULL;
    return twin != NULL ? twin : shadow_use_compiled(use);
}

static cl_int get_build_info(const struct shadow_use *use, cl_device_id device, cl_program_build_info name,
                             size_t capacity, void *value, size_t *size_ret)
{
    const cl_build_status in_progress = CL_BUILD_IN_PROGRESS;
    cl_int error = CL_SUCCESS;
    if (name == CL_PROGRAM_BUILD_STATUS && is_building(use->shadow))
        return layer_answer(sizeof(in_progress), &in_progress, capacity, value, size_ret);
    if (use->result != NULL && name == CL_PROGRAM_BUILD_OPTIONS)
        return get_options(use, device, capacity, value, size_ret);
    if (use->result != NULL && name == CL_PROGRAM_BUILD_LOG)
        return get_recorded(use, device, name, use->result->log, capacity, value, size_ret);
    if (get_of_object(use, device, name, capacity, value, size_ret, &error))
        return error;
    return layer_target.clGetProgramBuildInfo(get_answering(use, name), device, name, capacity, value, size_ret);
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

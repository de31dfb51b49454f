/*
 * create.c - creates programs from source and from intermediate language.
 *
 * The driver creates each program, so errors are the driver's own. The application gets a shadow (program/program.h),
 * which stands for the driver's program. If there is no store, or if the layer does not cache programs of the platform
 * (program/program.h), the application gets the driver's program itself.
 */
#include <pthread.h>
#include <string.h>

#include "layers/common/common.h"
#include "layers/opencl/program/program.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_store_of_layer(void)
{
    settings_open_store("the OpenCL layer caches nothing", layer_trace);
}

static bool has_store(void)
{
    (void)pthread_once(&once, open_store_of_layer);
    return settings_store() != NULL || settings_must_not_compile();
}

static cl_program make_shadow(cl_program native, ingot_source_kind_t kind)
{
    if (native == NULL || !has_store() || !platforms_have(native))
        return native;
    reclaim_try(NULL);
    struct shadow *shadow = shadow_create(native, kind);
    if (shadow == NULL)
        return native;
    statistics_add(STATISTIC_PROGRAMS, 1);
    return (cl_program)(void *)shadow;
}

/* True if a string has text after a NUL, counted by its length. Drivers compile that text, but some return the source
 * only up to the NUL. */
static bool has_text_after_nul(cl_uint count, const char **strings, const size_t *lengths)
{
    bool has_nul = false;
    for (cl_uint i = 0; i < count && lengths != NULL; ++i) {
        const size_t size = lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
        const size_t before = strnlen(strings[i], size);
        if (has_nul && before > 0)
            return true;
        has_nul = has_nul || before < size;
        for (size_t at = before; at < size; ++at) {
            if (strings[i][at] != '\0')
                return true;
        }
    }
    return false;
}

cl_program CL_API_CALL layer_create_with_source(cl_context context, cl_uint count, const char **strings,
                                                const size_t *lengths, cl_int *error)
{
    const cl_program native = layer_target.clCreateProgramWithSource(context, count, strings, lengths, error);
    const cl_program program = make_shadow(native, INGOT_SOURCE_OPENCL_C);
    if (program != native) /* it is a shadow, and the strings are valid */
        shadow_find(program)->has_text_after_nul = has_text_after_nul(count, strings, lengths);
    return program;
}

cl_program CL_API_CALL layer_create_with_il(cl_context context, const void *il, size_t length, cl_int *error)
{
    return make_shadow(layer_target.clCreateProgramWithIL(context, il, length, error), INGOT_SOURCE_SPIRV);
}

cl_program CL_API_CALL layer_create_with_il_khr(cl_context context, const void *il, size_t length, cl_int *error)
{
    cl_program(CL_API_CALL * create)(cl_context, const void *, size_t, cl_int *) = NULL;
    *(void **)&create = extension_find_for_context(context, "clCreateProgramWithILKHR");
    if (create == NULL) {
        if (error != NULL)
            *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    return make_shadow(create(context, il, length, error), INGOT_SOURCE_SPIRV);
}

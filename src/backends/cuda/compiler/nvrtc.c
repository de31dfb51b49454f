/*
 * nvrtc.c - compiles one CUDA C++ source to machine code.
 *
 * Many threads may call NVRTC at once, each with its own program.
 */
#include "backends/cuda/compiler/nvrtc.h"

#include "backends/cuda/compiler/nvrtc_library.h"

#include <limits.h>

static ingot_status_t fail_nvrtc_call(const struct cuda_nvrtc *nvrtc, const char *call, nvrtcResult result)
{
    ingot_status_t status = INGOT_BACKEND_ERROR;
    switch (result) {
    case NVRTC_ERROR_OUT_OF_MEMORY: status = INGOT_OUT_OF_MEMORY; break;
    case NVRTC_ERROR_COMPILATION:
    case NVRTC_ERROR_INVALID_OPTION:
    case NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID: status = INGOT_BUILD_FAILED; break;
    default: break;
    }
    return ingot_set_error(status, (int64_t)result, "%s: %s (%d)", call, nvrtc->error_string(result), (int)result);
}

/* Creates NVRTC's program. NVRTC takes the headers as two arrays: their texts, and their names. */
static ingot_status_t create_nvrtc_program(const struct cuda_nvrtc_job *job, const struct cuda_nvrtc *nvrtc,
                                           nvrtcProgram *program)
{
    const size_t count = job->request->header_count;
    const size_t size = (2 * count + 1) * sizeof(char *); /* not 0, even without headers */
    const char **texts = ingot_allocate(job->allocator, size);
    if (texts == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu headers", count);
    const char **names = texts + count;
    for (size_t i = 0; i < count; ++i) {
        texts[i] = job->request->headers[i].bytes;
        names[i] = job->request->headers[i].name;
    }
    const char *name = job->source->name[0] != '\0' ? job->source->name : NULL;
    const nvrtcResult result = nvrtc->create(program, job->source->bytes, name, (int)count, texts, names);
    ingot_deallocate(job->allocator, (void *)texts, size);
    return result == NVRTC_SUCCESS ? INGOT_SUCCESS : fail_nvrtc_call(nvrtc, "nvrtcCreateProgram", result);
}

static ingot_status_t add_expressions(const struct cuda_nvrtc_job *job, const struct cuda_nvrtc *nvrtc,
                                      nvrtcProgram program)
{
    for (size_t i = 0; i < job->expression_count; ++i) {
        const nvrtcResult result = nvrtc->add_name_expression(program, job->request->name_expressions[i]);
        if (result != NVRTC_SUCCESS)
            return fail_nvrtc_call(nvrtc, "nvrtcAddNameExpression", result);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t take_nvrtc_log(const struct cuda_nvrtc_job *job, const struct cuda_nvrtc *nvrtc,
                                     nvrtcProgram program)
{
    size_t size = 0;
    nvrtcResult result = nvrtc->log_size(program, &size);
    if (result != NVRTC_SUCCESS)
        return fail_nvrtc_call(nvrtc, "nvrtcGetProgramLogSize", result);
    struct cuda_bytes text = {0, NULL};
    ingot_status_t status = cuda_bytes_init(&text, job->allocator, size + 1); /* with room for a NUL */
    if (status != INGOT_SUCCESS)
        return status;
    result = size > 0 ? nvrtc->log(program, (char *)text.bytes) : NVRTC_SUCCESS;
    status = result == NVRTC_SUCCESS ? ingot_sink_write_log(job->log, (const char *)text.bytes)
                                     : fail_nvrtc_call(nvrtc, "nvrtcGetProgramLog", result);
    cuda_bytes_fini(&text, job->allocator);
    return status;
}

static ingot_status_t compile_nvrtc_program(const struct cuda_nvrtc_job *job, const struct cuda_nvrtc *nvrtc,
                                            nvrtcProgram program)
{
    if (job->options->count > INT_MAX)
        return ingot_refuse_program(job->log, 0, "%zu options are more than NVRTC accepts", job->options->count);
    const nvrtcResult result = nvrtc->compile(program, (int)job->options->count, job->options->words);
    const ingot_status_t status = take_nvrtc_log(job, nvrtc, program);
    if (result == NVRTC_SUCCESS || status != INGOT_SUCCESS)
        return status;
    return fail_nvrtc_call(nvrtc, "nvrtcCompileProgram", result);
}

static ingot_status_t take_lowered_names(const struct cuda_nvrtc_job *job, const struct cuda_nvrtc *nvrtc,
                                         nvrtcProgram program, struct cuda_bytes *head)
{
    const size_t count = job->expression_count;
    const size_t size = count * sizeof(char *);
    ingot_status_t status = INGOT_SUCCESS;
    if (count == 0)
        return INGOT_SUCCESS;
    const char **lowered_names = ingot_allocate(job->allocator, size);
    if (lowered_names == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu names", count);
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        const nvrtcResult result = nvrtc->lowered_name(program, job->request->name_expressions[i], &lowered_names[i]);
        if (result != NVRTC_SUCCESS)
            status = fail_nvrtc_call(nvrtc, "nvrtcGetLoweredName", result);
    }
    if (status == INGOT_SUCCESS)
        status = cuda_image_write_head(head, job->allocator, count, job->request->name_expressions, lowered_names);
    ingot_deallocate(job->allocator, (void *)lowered_names, size);
    return status;
}

static ingot_status_t take_cubin(const struct cuda_nvrtc_job *job, const struct cuda_nvrtc *nvrtc, nvrtcProgram program,
                                 struct cuda_bytes *cubin)
{
    size_t size = 0;
    nvrtcResult result = nvrtc->cubin_size(program, &size);
    if (result != NVRTC_SUCCESS)
        return fail_nvrtc_call(nvrtc, "nvrtcGetCUBINSize", result);
    if (size == 0)
        return ingot_refuse_program(job->log, 0,
                                    "the options produce no machine code; remove an architecture compute_XX or -dlto");
    const ingot_status_t status = cuda_bytes_init(cubin, job->allocator, size);
    if (status != INGOT_SUCCESS)
        return status;
    result = nvrtc->cubin(program, (char *)cubin->bytes);
    if (result == NVRTC_SUCCESS)
        return INGOT_SUCCESS;
    cuda_bytes_fini(cubin, job->allocator);
    return fail_nvrtc_call(nvrtc, "nvrtcGetCUBIN", result);
}

ingot_status_t cuda_nvrtc_compile(const struct cuda_nvrtc_job *job, struct cuda_bytes *head, struct cuda_bytes *cubin)
{
    struct cuda_nvrtc nvrtc;
    nvrtcProgram program = NULL;
    ingot_status_t status = cuda_nvrtc_open(job->driver_version, &nvrtc);
    if (status != INGOT_SUCCESS)
        return status;
    status = create_nvrtc_program(job, &nvrtc, &program);
    if (status == INGOT_SUCCESS)
        status = add_expressions(job, &nvrtc, program);
    if (status == INGOT_SUCCESS)
        status = compile_nvrtc_program(job, &nvrtc, program);
    if (status == INGOT_SUCCESS)
        status = take_lowered_names(job, &nvrtc, program, head);
    if (status == INGOT_SUCCESS)
        status = take_cubin(job, &nvrtc, program, cubin);
    if (program != NULL)
        (void)nvrtc.destroy(&program);
    return status;
}

/*
 * context.c - creates Ingot contexts for the application's own CUDA contexts, and returns native objects.
 *
 * The CUDA contexts belong to the application, which keeps them alive: CUDA does not count references. Ingot neither
 * configures nor retains them.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/compiler/compile.h"

static ingot_status_t build(void *state, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **program)
{
    return rtc_build(state, request, device_count, device_indices, log, program);
}

const ingot_backend_ops_t cuda_ops = RTC_OPS("cuda", build, cuda_identify_device, cuda_get_text_rules);

const struct rtc_vendor cuda_vendor = {
    .format = &cuda_cubin,
    .ops = &cuda_ops,
    .prefix = "cu",
    .kinds = {INGOT_SOURCE_CUDA_CPP, INGOT_SOURCE_PTX},
    .refusals = {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX,
                 CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_JIT_COMPILATION_DISABLED,
                 CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND},
    .state_size = sizeof(struct cuda_state),
    .init = cuda_init,
    .error_name = cuda_error_name,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .compile = cuda_compile,
};

ingot_status_t ingot_cuda_context_create(ingot_context_t *context, uint32_t context_count,
                                         const CUcontext *cuda_contexts, const ingot_context_info_t *info)
{
    if (context == NULL || cuda_contexts == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "cuda_contexts");
    if (context_count == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context_count is 0");
    for (uint32_t i = 0; i < context_count; ++i) {
        for (uint32_t j = 0; j <= i; ++j) {
            if (cuda_contexts[i] == NULL || (j < i && cuda_contexts[j] == cuda_contexts[i]))
                return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "cuda_contexts: context %u is %s", (unsigned)i,
                                              cuda_contexts[i] == NULL ? "NULL" : "given twice");
        }
    }
    return rtc_context_create(&cuda_vendor, context, context_count, cuda_contexts, info);
}

ingot_status_t ingot_cuda_program_get_native(const_ingot_program_t program, uint32_t device_index, CUmodule *native)
{
    return rtc_get_native_module(&cuda_vendor, program, device_index, native);
}

ingot_status_t ingot_cuda_program_get_lowered_name(const_ingot_program_t program, const char *expression,
                                                   const char **lowered_name)
{
    return rtc_get_lowered_name(&cuda_vendor, program, expression, lowered_name);
}

ingot_status_t ingot_cuda_kernel_get_native(const_ingot_kernel_t kernel, CUfunction *native)
{
    return rtc_get_native_kernel(&cuda_vendor, kernel, native);
}

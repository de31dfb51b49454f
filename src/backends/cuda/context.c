/*
 * context.c - creates an Ingot context for the application's own CUDA contexts.
 *
 * The native objects belong to the application. Ingot neither configures nor retains them.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/compiler/cubin.h"
#include "backends/cuda/state.h"

void cuda_state_destroy(void *opaque)
{
    struct cuda_state *state = opaque;
    ingot_allocator_t allocator = {NULL, NULL, NULL};
    if (state == NULL)
        return;
    allocator = state->common.allocator;
    ingot_deallocate(&allocator, state->devices, state->common.device_count * sizeof(*state->devices));
    ingot_deallocate(&allocator, state, sizeof(*state));
}

static int accepts_cuda_source(void *state, ingot_source_kind_t kind)
{
    (void)state;
    return kind == INGOT_SOURCE_CUDA_CPP || kind == INGOT_SOURCE_PTX;
}

const ingot_backend_ops_t cuda_ops = {
    .struct_size = sizeof(ingot_backend_ops_t),
    .name = "cuda",
    .destroy = cuda_state_destroy,
    .identify_device = cuda_identify_device,
    .accepts = accepts_cuda_source,
    .build = cuda_build,
    .destroy_program = rtc_destroy_program,
    .get_kernel_names = rtc_get_kernel_names,
    .get_binary = rtc_get_binary,
    .load = rtc_load,
    .create_kernel = rtc_create_kernel,
    .destroy_kernel = rtc_destroy_kernel,
    .get_program_size = rtc_get_program_size,
    .takes_name_expressions = rtc_takes_name_expressions,
    .get_text_rules = cuda_get_text_rules,
};

const struct rtc_vendor cuda_vendor = {&cuda_cubin,      &cuda_ops,          cuda_compile_for,
                                       cuda_load_module, cuda_unload_module, cuda_find_kernel};

static ingot_status_t check_contexts(uint32_t count, const CUcontext *contexts)
{
    if (count == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context_count is 0");
    for (uint32_t i = 0; i < count; ++i) {
        if (contexts[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "cuda_contexts: context %u is NULL", (unsigned)i);
        for (uint32_t j = 0; j < i; ++j) {
            if (contexts[j] == contexts[i])
                return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "cuda_contexts: context %u is given twice",
                                              (unsigned)i);
        }
    }
    return INGOT_SUCCESS;
}

static ingot_status_t add_devices(struct cuda_state *state, uint32_t count, const CUcontext *contexts)
{
    ingot_status_t status = INGOT_SUCCESS;
    state->devices = ingot_allocate(&state->common.allocator, count * sizeof(*state->devices));
    if (state->devices == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context of %u devices", (unsigned)count);
    state->common.device_count = count;
    for (uint32_t i = 0; i < count && status == INGOT_SUCCESS; ++i)
        status = cuda_device_init(&state->driver, contexts[i], &state->devices[i]);
    return status;
}

ingot_status_t cuda_state_create(struct cuda_state **out, const ingot_allocator_t *allocator, uint32_t count,
                                 const CUcontext *contexts)
{
    struct cuda_state *state = ingot_allocate(allocator, sizeof(*state));
    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context");
    state->common.allocator = *allocator;
    state->common.vendor = &cuda_vendor;
    ingot_status_t status = cuda_state_open_driver(state);
    if (status == INGOT_SUCCESS)
        status = add_devices(state, count, contexts);
    if (status == INGOT_SUCCESS)
        *out = state;
    else
        cuda_state_destroy(state);
    return status;
}

ingot_status_t ingot_cuda_context_create(ingot_context_t *context, uint32_t context_count,
                                         const CUcontext *cuda_contexts, const ingot_context_info_t *info)
{
    const ingot_allocator_t allocator = ingot_context_info_get_allocator(info);
    struct cuda_state *state = NULL;
    if (context == NULL || cuda_contexts == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL ? "context" : "cuda_contexts");
    ingot_status_t status = check_contexts(context_count, cuda_contexts);
    if (status == INGOT_SUCCESS)
        status = cuda_state_create(&state, &allocator, context_count, cuda_contexts);
    if (status != INGOT_SUCCESS)
        return status;
    status = ingot_context_create(context, &cuda_ops, state, state->common.device_count, info);
    if (status != INGOT_SUCCESS)
        cuda_state_destroy(state);
    return status;
}

/*
 * nvidia_linker.c - translates PTX to machine code with nvJitLink, if nvJitLink is installed.
 *
 * The driver has its own linker, but only for CUDA contexts, which an OpenCL application does not have.
 */
#include "backends/opencl/vendor/nvidia_linker.h"

#include "util/nvjitlink.h"

#define INPUT_PTX 2 /* NVJITLINK_INPUT_PTX in nvJitLink's header */

static ingot_status_t fail_linker_call(const char *call, int result)
{
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s: error %d", call, result);
}

static ingot_status_t link_with(const struct nvjitlink *linker, void *handle, const ingot_allocator_t *allocator,
                                size_t size, const void *ptx, size_t *native_size, void **native)
{
    void *cubin = NULL;
    int result = linker->add_data(handle, INPUT_PTX, ptx, size, "opencl");
    if (result != 0)
        return fail_linker_call("nvJitLinkAddData", result);
    result = linker->complete(handle);
    if (result == 0)
        result = linker->cubin_size(handle, native_size);
    if (result != 0 || *native_size == 0)
        return fail_linker_call("nvJitLinkComplete", result);
    cubin = ingot_allocate(allocator, *native_size);
    if (cubin == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a binary of %zu bytes", *native_size);
    result = linker->cubin(handle, cubin);
    if (result == 0) {
        *native = cubin;
        return INGOT_SUCCESS;
    }
    ingot_deallocate(allocator, cubin, *native_size);
    return fail_linker_call("nvJitLinkGetLinkedCubin", result);
}

ingot_status_t nvidia_link_ptx(const ingot_allocator_t *allocator, unsigned cuda_major, unsigned capability,
                               size_t size, const void *ptx, size_t *native_size, void **native)
{
    struct nvjitlink linker;
    char architecture[32] = "";
    const char *const options[] = {architecture};
    void *handle = NULL;
    if (!nvjitlink_open(cuda_major, &linker))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "no libnvJitLink of version %u to %u was found",
                                      NVJITLINK_OLDEST_MAJOR, cuda_major);
    (void)snprintf(architecture, sizeof(architecture), "-arch=sm_%u", capability);
    const int result = linker.create(&handle, 1, options);
    if (result != 0)
        return fail_linker_call("nvJitLinkCreate", result);
    const ingot_status_t status = link_with(&linker, handle, allocator, size, ptx, native_size, native);
    (void)linker.destroy(&handle);
    return status;
}

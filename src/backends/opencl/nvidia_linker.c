/*
 * nvidia_linker.c - PTX to machine code by NVIDIA's nvJitLink, where that is installed.
 *
 * It is a library of the CUDA toolkit and needs no GPU and no context. The driver has a linker of its own, but only for
 * CUDA contexts, and an application of OpenCL has none. The library is opened when a binary is taken, and never closed:
 * it keeps threads and handlers of its own.
 */
#include "backends/opencl/nvidia_linker.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define OLDEST_MAJOR 12u
#define INPUT_PTX 2 /* NVJITLINK_INPUT_PTX of its header, which OpenCL applications do not have */

/* 0 is success. */
struct linker {
    int (*create)(void **handle, uint32_t option_count, const char *const *options);
    int (*destroy)(void **handle);
    int (*add_data)(void *handle, int type, const void *data, size_t size, const char *name);
    int (*complete)(void *handle);
    int (*get_size)(void *handle, size_t *size);
    int (*get)(void *handle, void *cubin);
};

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"nvJitLinkCreate", offsetof(struct linker, create)},
    {"nvJitLinkDestroy", offsetof(struct linker, destroy)},
    {"nvJitLinkAddData", offsetof(struct linker, add_data)},
    {"nvJitLinkComplete", offsetof(struct linker, complete)},
    {"nvJitLinkGetLinkedCubinSize", offsetof(struct linker, get_size)},
    {"nvJitLinkGetLinkedCubin", offsetof(struct linker, get)},
};

static int open_linker(unsigned major, struct linker *linker)
{
    char name[40] = "";
    void *library = NULL;
    int complete = 1;
    (void)snprintf(name, sizeof(name), "libnvJitLink.so.%u", major);
    library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL)
        return 0;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        void *function = dlsym(library, symbols[i].name);
        memcpy((char *)linker + symbols[i].offset, &function, sizeof(function));
        complete = complete && function != NULL;
    }
    (void)dlclose(library); /* RTLD_NODELETE keeps it */
    return complete;
}

static ingot_status_t refused(const char *call, int result)
{
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s: error %d", call, result);
}

/* Each result counts: after a refusal it goes on and makes a cubin without kernels. */
static ingot_status_t link_with(const struct linker *linker, void *handle, const ingot_allocator_t *allocator,
                                size_t size, const void *ptx, size_t *native_size, void **native)
{
    void *cubin = NULL;
    int result = linker->add_data(handle, INPUT_PTX, ptx, size, "opencl");
    if (result != 0)
        return refused("nvJitLinkAddData", result);
    result = linker->complete(handle);
    if (result == 0)
        result = linker->get_size(handle, native_size);
    if (result != 0 || *native_size == 0)
        return refused("nvJitLinkComplete", result);
    cubin = ingot_allocate(allocator, *native_size);
    if (cubin == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a binary of %zu bytes", *native_size);
    result = linker->get(handle, cubin);
    if (result == 0) {
        *native = cubin;
        return INGOT_SUCCESS;
    }
    ingot_deallocate(allocator, cubin, *native_size);
    return refused("nvJitLinkGetLinkedCubin", result);
}

ingot_status_t nvidia_link_ptx(const ingot_allocator_t *allocator, unsigned cuda_major, unsigned capability,
                               size_t size, const void *ptx, size_t *native_size, void **native)
{
    struct linker linker;
    char architecture[32] = "";
    const char *const options[] = {architecture};
    void *handle = NULL;
    unsigned major = cuda_major;
    while (major >= OLDEST_MAJOR && !open_linker(major, &linker))
        --major;
    if (major < OLDEST_MAJOR)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "there is no libnvJitLink of version %u to %u", OLDEST_MAJOR,
                                      cuda_major);
    (void)snprintf(architecture, sizeof(architecture), "-arch=sm_%u", capability);
    const int result = linker.create(&handle, 1, options);
    if (result != 0)
        return refused("nvJitLinkCreate", result);
    const ingot_status_t status = link_with(&linker, handle, allocator, size, ptx, native_size, native);
    (void)linker.destroy(&handle);
    return status;
}

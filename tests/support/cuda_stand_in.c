/*
 * cuda_stand_in.c - a libcuda.so.1 that simulates GPUs, for machines without one; see driver_stand_in.c.
 *
 * It loads what the real compilers made, by the rules of the real driver: machine code for its own architecture, and
 * nothing else. It finds kernels in the code, but does not launch them. There are three GPUs, two identical ones and a
 * different one. The environment variables CUDA_STAND_IN_NAME and CUDA_STAND_IN_CAPABILITY replace the identical ones
 * with other GPUs.
 */
#include "support/driver_stand_in.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_COUNT = 3, STACK_DEPTH = 16, MAGIC = 0x43554354 };

struct CUctx_st {
    int magic;
    CUdevice device;
};

struct CUmod_st {
    struct CUctx_st *context;
    struct stand_in_kernels kernels;
};

static struct CUctx_st primaries[GPU_COUNT] = {{MAGIC, 0}, {MAGIC, 1}, {MAGIC, 2}};
static _Thread_local struct CUctx_st *stack[STACK_DEPTH];
static _Thread_local int depth;

int cuda_stand_in_stack_depth(void)
{
    return depth;
}

static CUresult outcome(const char *call)
{
    return (CUresult)stand_in_outcome(call);
}

/* ---- devices and contexts ---- */

static int capability_of(CUdevice device)
{
    const char *text = getenv("CUDA_STAND_IN_CAPABILITY");
    return device == 2 ? 80 : text != NULL ? atoi(text) : 90;
}

CUresult cuInit(unsigned int flags)
{
    (void)flags;
    return outcome("cuInit");
}

/* The compilers call this to look for the driver's own cache. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    (void)id;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return outcome("cuDriverGetVersion");
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_STAND_IN";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = GPU_COUNT;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    const char *given = getenv("CUDA_STAND_IN_NAME");
    (void)snprintf(name, (size_t)size, "%s", device == 2 ? "Another GPU" : given != NULL ? given : "A GPU");
    return outcome("cuDeviceGetName");
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const int capability = capability_of(device);
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? capability / 10 : capability % 10;
    return outcome("cuDeviceGetAttribute");
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = &primaries[device];
    return outcome("cuDevicePrimaryCtxRetain");
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    const CUresult result = outcome("cuCtxPushCurrent");
    if (result != CUDA_SUCCESS)
        return result;
    if (context == NULL || context->magic != MAGIC || depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    const CUresult result = outcome("cuCtxGetDevice");
    if (result != CUDA_SUCCESS || depth == 0)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_CONTEXT;
    *device = stack[depth - 1]->device;
    return CUDA_SUCCESS;
}

/* ---- modules ---- */

static size_t get_length(const Elf64_Sym *symbol, const char *name)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & 0x10) != 0 ? strlen(name) : 0;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    const Elf64_Ehdr *header = image;
    const CUresult result = outcome("cuModuleLoadData");
    if (result != CUDA_SUCCESS)
        return result;
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != 190 || header->e_type != ET_EXEC)
        return CUDA_ERROR_INVALID_IMAGE;
    if ((int)(header->e_flags >> 8 & 0xff) != capability_of(stack[depth - 1]->device))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    CUmodule made = calloc(1, sizeof(*made));
    made->context = stack[depth - 1];
    stand_in_kernels_init(&made->kernels, image, SHT_SYMTAB, get_length);
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    if (depth == 0 || stack[depth - 1] != module->context)
        return CUDA_ERROR_INVALID_CONTEXT;
    stand_in_kernels_fini(&module->kernels);
    free(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    const CUresult result = outcome("cuModuleGetFunction");
    if (result != CUDA_SUCCESS)
        return result;
    if (depth == 0 || stack[depth - 1] != module->context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *function = (CUfunction)(void *)stand_in_kernels_find(&module->kernels, name);
    return *function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

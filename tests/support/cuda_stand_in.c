/*
 * cuda_stand_in.c - a libcuda.so.1 that simulates GPUs, for machines without one, and for failures that no GPU produces
 * on demand.
 *
 * It loads what the real compilers made, by the rules of the real driver: machine code for its own architecture, and
 * nothing else. It finds kernels in the code, but does not launch them. There are three GPUs, two identical ones and a
 * different one. The environment variables CUDA_STAND_IN_NAME and CUDA_STAND_IN_CAPABILITY replace the identical ones
 * with other GPUs. Every call to the function that the environment variable CUDA_STAND_IN_FAIL names fails.
 */
#include "support/cuda_stand_in.h"

#include <elf.h>
#include <pthread.h>
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
    size_t name_count;
    char **names;
};

static struct CUctx_st primaries[GPU_COUNT] = {{MAGIC, 0}, {MAGIC, 1}, {MAGIC, 2}};
static _Thread_local struct CUctx_st *stack[STACK_DEPTH];
static _Thread_local int depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables below */
static char failing_call[64];
static CUresult failing_result;
static int failing_times;
static int live_modules;

/* ---- what tests set and read ---- */

void cuda_stand_in_fail(const char *call, CUresult result, int times)
{
    pthread_mutex_lock(&lock);
    (void)snprintf(failing_call, sizeof(failing_call), "%s", call);
    failing_result = result;
    failing_times = times;
    pthread_mutex_unlock(&lock);
}

int cuda_stand_in_live_modules(void)
{
    pthread_mutex_lock(&lock);
    const int count = live_modules;
    pthread_mutex_unlock(&lock);
    return count;
}

int cuda_stand_in_stack_depth(void)
{
    return depth;
}

static CUresult outcome(const char *call)
{
    const char *failing = getenv("CUDA_STAND_IN_FAIL");
    CUresult result = failing != NULL && strcmp(call, failing) == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (failing_times > 0 && strcmp(call, failing_call) == 0) {
        --failing_times;
        result = failing_result;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void count_modules(int change)
{
    pthread_mutex_lock(&lock);
    live_modules += change;
    pthread_mutex_unlock(&lock);
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

static const Elf64_Shdr *section_of(const uint8_t *cubin, size_t index)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)cubin;
    return (const Elf64_Shdr *)(const void *)(cubin + header->e_shoff) + index;
}

static void take_name(CUmodule module, const uint8_t *cubin, const Elf64_Shdr *symbols, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || (symbol->st_other & 0x10) == 0)
        return;
    const Elf64_Shdr *names = section_of(cubin, symbols->sh_link);
    module->names = realloc(module->names, (module->name_count + 1) * sizeof(*module->names));
    module->names[module->name_count++] = strdup((const char *)cubin + names->sh_offset + symbol->st_name);
}

static void take_names(CUmodule module, const uint8_t *cubin)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)cubin;
    for (size_t i = 0; i < header->e_shnum; ++i) {
        const Elf64_Shdr *symbols = section_of(cubin, i);
        const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(cubin + symbols->sh_offset);
        for (size_t n = 0; symbols->sh_type == SHT_SYMTAB && n < symbols->sh_size / sizeof(*symbol); ++n)
            take_name(module, cubin, symbols, symbol + n);
    }
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
    take_names(made, image);
    count_modules(1);
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    if (depth == 0 || stack[depth - 1] != module->context)
        return CUDA_ERROR_INVALID_CONTEXT;
    for (size_t i = 0; i < module->name_count; ++i)
        free(module->names[i]);
    free(module->names);
    free(module);
    count_modules(-1);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    const CUresult result = outcome("cuModuleGetFunction");
    if (result != CUDA_SUCCESS)
        return result;
    if (depth == 0 || stack[depth - 1] != module->context)
        return CUDA_ERROR_INVALID_CONTEXT;
    for (size_t i = 0; i < module->name_count; ++i) {
        if (strcmp(name, module->names[i]) == 0) {
            *function = (CUfunction)(void *)module->names[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

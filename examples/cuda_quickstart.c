/*
 * cuda_quickstart.c - shows Ingot in an application that already has a CUDA context.
 *
 * Run it twice with the same directory: the second process loads the module from the directory and compiles nothing.
 * NVRTC need not be linked, because Ingot opens it when it compiles.
 */
#include <ingot/cuda.h>

#include <stdio.h>
#include <string.h>

static const char source[] = "extern \"C\" __global__ void scale(float *x, float by) { x[threadIdx.x] *= by; }";

int main(int count, char **arguments)
{
    CUdevice device;
    CUcontext context;
    if (count != 2 || cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS) {
        fputs("usage: cuda_quickstart DIRECTORY, on a machine with a CUDA device\n", stderr);
        return 2;
    }
    ingot_cache_info_t info = {.struct_size = sizeof(info), .directory = arguments[1]};
    ingot_cache_t cache = NULL; /* NULL works, too: everything is compiled then */
    ingot_cache_open(&cache, &info);

    const char *const options[] = {"--use_fast_math", "--std=c++17"};
    CUmodule module;
    CUfunction kernel;
    ingot_origin_t origin;
    if (ingot_cache_cuda_load(cache, context, source, strlen(source), "scale.cu", options, 2, &module, &origin) !=
        INGOT_SUCCESS) {
        fprintf(stderr, "%s\n", ingot_last_error_detail());
        return 1;
    }
    if (cuCtxPushCurrent(context) != CUDA_SUCCESS ||
        cuModuleGetFunction(&kernel, module, "scale") != CUDA_SUCCESS) { /* launch it as usual */
        fputs("the module has no kernel scale\n", stderr);
        return 1;
    }
    printf("origin: %s\n", ingot_origin_name(origin));
    cuModuleUnload(module);
    ingot_cache_release(cache);
    return 0;
}

/*
 * hip_quickstart.c - shows Ingot in an application for HIP devices.
 *
 * Run it twice with the same directory: the second process loads the module from the directory and compiles nothing.
 * hipRTC need not be linked, because Ingot opens it when it compiles.
 */
#include <ingot/hip.h>

#include <stdio.h>
#include <string.h>

/* Of <hip/hip_runtime_api.h>, which an application includes, declared so that this file compiles without it. */
int hipModuleGetFunction(hipFunction_t *kernel, hipModule_t module, const char *name);
int hipModuleUnload(hipModule_t module);

static const char source[] = "extern \"C\" __global__ void scale(float *x, float by) { x[threadIdx.x] *= by; }";

int main(int count, char **arguments)
{
    if (count != 2) {
        fputs("usage: hip_quickstart DIRECTORY, on a machine with a HIP device\n", stderr);
        return 2;
    }
    ingot_cache_info_t info = {.struct_size = sizeof(info), .directory = arguments[1]};
    ingot_cache_t cache = NULL; /* NULL works, too: everything is compiled then */
    ingot_cache_open(&cache, &info);

    const char *const options[] = {"-ffast-math", "-std=c++17"};
    hipModule_t module;
    hipFunction_t kernel;
    ingot_origin_t origin;
    if (ingot_cache_hip_load(cache, 0, source, strlen(source), "scale.hip", options, 2, &module, &origin) !=
        INGOT_SUCCESS) {
        fprintf(stderr, "%s\n", ingot_last_error_detail());
        return 1;
    }
    if (hipModuleGetFunction(&kernel, module, "scale") != 0) { /* launch it as usual */
        fputs("the module has no kernel scale\n", stderr);
        return 1;
    }
    printf("origin: %s\n", ingot_origin_name(origin));
    hipModuleUnload(module);
    ingot_cache_release(cache);
    return 0;
}

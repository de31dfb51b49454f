/*
 * build_programs_cached.c - the OpenCL application of build_programs.c with Ingot: programs are compiled once.
 *
 * doc/replace-clbuildprogram.md shows what differs.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <ingot/opencl.h>
#include <stdio.h>
#include <stdlib.h>

static ingot_cache_t cache;
static cl_context context;
static cl_device_id device;

static int open_device(void)
{
    cl_platform_id platform;
    cl_int error = clGetPlatformIDs(1, &platform, NULL);
    if (error == CL_SUCCESS)
        error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    if (error == CL_SUCCESS)
        context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    return error == CL_SUCCESS ? 0 : -1;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = 0;
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0)
        text = calloc(1, (size_t)size + 1);
    if (text != NULL && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static void print_log(cl_program program)
{
    size_t size = 0;
    char *log = NULL;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS)
        log = calloc(1, size + 1);
    if (log != NULL && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) == CL_SUCCESS)
        fprintf(stderr, "%s\n", log);
    free(log);
}

/* Returns a built program, or NULL. */
static cl_program build(const char *text)
{
    cl_program program = NULL;
    const int error =
        (int)ingot_cache_opencl_build(cache, context, 1, &device, text, 0, "-cl-fast-relaxed-math", &program, NULL);
    if (program == NULL)
        return NULL;
    if (error == CL_SUCCESS)
        return program;
    print_log(program);
    clReleaseProgram(program);
    return NULL;
}

static void list_kernels(const char *path, cl_program program)
{
    char names[1024] = "";
    if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL) == CL_SUCCESS)
        printf("%s: %s\n", path, names);
}

int main(int count, char **paths)
{
    int failures = 0;
    if (open_device() != 0) {
        fputs("there is no OpenCL device\n", stderr);
        return 2;
    }
    ingot_cache_open(&cache, NULL);
    for (int i = 1; i < count; ++i) {
        char *text = read_file(paths[i]);
        cl_program program = text != NULL ? build(text) : NULL;
        if (program != NULL) {
            list_kernels(paths[i], program);
            clReleaseProgram(program);
        } else {
            fprintf(stderr, "%s: failed\n", paths[i]);
            ++failures;
        }
        free(text);
    }
    ingot_cache_release(cache);
    clReleaseContext(context);
    return failures == 0 ? 0 : 1;
}

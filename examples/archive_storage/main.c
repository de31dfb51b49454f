/*
 * main.c - implements ingot_storage_ops_t with an archive that also holds the application's own entries.
 *
 * Run it twice with the same file: the second process loads the program from the file and compiles nothing. persist
 * does the rest: it stores programs later, waits for other threads that build the same program, and compiles a
 * program again if the driver rejects a kernel.
 */
#include <ingot/backend.h> /* for ingot_set_error */
#include <ingot/opencl.h>
#include <ingot/persist.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"

enum { APPLICATION = 'A', PROGRAM = 'P' }; /* kinds of entries */

#define CHECK(call) check((call), #call)

static const char text[] = "__kernel void scale(__global float *x, float by) { x[get_global_id(0)] *= by; }";

static void check(ingot_status_t status, const char *call)
{
    if (status == INGOT_SUCCESS)
        return;
    fprintf(stderr, "%s: %s: %s\n", call, ingot_status_name(status), ingot_last_error_detail());
    exit(1);
}

/* Converts an errno to what persist expects: a status and an error detail. */
static ingot_status_t status_of(int error)
{
    ingot_status_t status = INGOT_IO_ERROR;
    switch (error) {
    case 0: return INGOT_SUCCESS;
    case ENOENT: status = INGOT_NOT_FOUND; break;
    case ENOMEM: status = INGOT_OUT_OF_MEMORY; break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: status = INGOT_NO_SPACE; break;
    default: break;
    }
    return ingot_set_error(status, error, "the archive: %s", strerror(error));
}

/* own-storage begin */
static void release(ingot_buffer_t *blob)
{
    free(blob->owner);
}

static ingot_status_t load(void *archive, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    uint8_t *bytes = NULL;
    const int error = archive_get(archive, PROGRAM, id_size, id, &blob->size, &bytes);
    blob->bytes = blob->owner = bytes;
    blob->release = release;
    return status_of(error);
}

static ingot_status_t store(void *archive, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob)
{
    return status_of(archive_put(archive, PROGRAM, id_size, id, blob_size, blob));
}

static ingot_status_t forget(void *archive, size_t id_size, const uint8_t *id)
{
    return status_of(archive_remove(archive, PROGRAM, id_size, id));
}

/* There is no `destroy` function, because the application closes its archive itself, after it has released the
 * storage. */
static const ingot_storage_ops_t archive_ops = {
    .struct_size = sizeof(archive_ops), .load = load, .store = store, .remove = forget};
/* own-storage end */

/* Counts the runs of the application, in an entry of its own. */
static int count_runs(struct archive *archive)
{
    size_t size = 0;
    uint8_t *value = NULL;
    uint32_t runs = 0;
    if (archive_get(archive, APPLICATION, 4, "runs", &size, &value) == 0 && size == sizeof(runs))
        memcpy(&runs, value, sizeof(runs));
    free(value);
    ++runs;
    printf("runs: %u\n", (unsigned)runs);
    return archive_put(archive, APPLICATION, 4, "runs", sizeof(runs), &runs);
}

static int open_device(cl_device_id *device, cl_context *cl_ctx, cl_command_queue *queue)
{
    cl_platform_id platform;
    cl_int error = clGetPlatformIDs(1, &platform, NULL);
    if (error == CL_SUCCESS)
        error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, device, NULL);
    if (error == CL_SUCCESS)
        *cl_ctx = clCreateContext(NULL, 1, device, NULL, NULL, &error);
    if (error == CL_SUCCESS)
        *queue = clCreateCommandQueueWithProperties(*cl_ctx, *device, NULL, &error);
    return error == CL_SUCCESS;
}

static int launch_scale(cl_context cl_ctx, cl_command_queue queue, cl_kernel kernel)
{
    float value = 4;
    const float by = 10;
    const size_t count = 1;
    cl_int error;
    cl_mem x = clCreateBuffer(cl_ctx, CL_MEM_COPY_HOST_PTR, sizeof(value), &value, &error);
    if (x == NULL)
        return 0;
    error = clSetKernelArg(kernel, 0, sizeof(x), &x) | clSetKernelArg(kernel, 1, sizeof(by), &by);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof(value), &value, 0, NULL, NULL);
    clReleaseMemObject(x);
    return error == CL_SUCCESS && value == 40;
}

static int run(struct archive *archive, cl_device_id device, cl_context cl_ctx, cl_command_queue queue)
{
    ingot_context_t context;
    ingot_source_t source;
    ingot_program_desc_t desc;
    ingot_storage_t storage;
    ingot_kernel_t kernel;
    ingot_origin_t origin;
    cl_kernel native;
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = INGOT_SOURCE_OPENCL_C;
    source_info.bytes = text;
    source_info.size = strlen(text);
    ingot_program_info_t program_info = INGOT_PROGRAM_INFO_INIT;
    program_info.sources = &source;
    program_info.source_count = 1;

    CHECK(ingot_opencl_context_create(&context, cl_ctx, 1, &device, NULL));
    CHECK(ingot_source_create(&source, &source_info));
    CHECK(ingot_program_desc_create(&desc, context, &program_info));
    CHECK(ingot_storage_create(&storage, &archive_ops, archive));
    CHECK(ingot_persist_kernel_create(&kernel, desc, storage, 0, "scale", &origin));
    CHECK(ingot_opencl_kernel_get_native(kernel, &native));
    printf("origin: %s\n", ingot_origin_name(origin));
    const int is_right = launch_scale(cl_ctx, queue, native);

    CHECK(ingot_persist_flush(storage, NULL, NULL)); /* Stores queued programs before the archive is closed. */
    ingot_storage_release(storage);
    ingot_kernel_release(kernel);
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    ingot_context_release(context);
    return is_right;
}

int main(int count, char **arguments)
{
    cl_device_id device;
    cl_context cl_ctx;
    cl_command_queue queue;
    struct archive *archive = NULL;
    if (count != 2 || !open_device(&device, &cl_ctx, &queue)) {
        fputs("usage: archive_storage FILE, on a machine with an OpenCL device\n", stderr);
        return 2;
    }
    int error = archive_open(&archive, arguments[1]);
    if (error == 0)
        error = count_runs(archive);
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", arguments[1], strerror(error));
        return 1;
    }
    const int is_right = run(archive, device, cl_ctx, queue);
    archive_close(archive);
    clReleaseCommandQueue(queue);
    clReleaseContext(cl_ctx);
    return is_right ? 0 : 1;
}

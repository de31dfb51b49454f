/*
 * own_storage.c - stores blobs in an application's own SQLite file, with three functions of the core and without
 * persist.
 *
 * Run it twice with the same file: the second process loads the program from the file and compiles nothing. If
 * Ingot rejects a blob (because of another driver or damaged bytes), the program is built and the row is replaced.
 * If the database fails, the program is built anyway.
 */
#include <ingot/opencl.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source_text[] = "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
                                  "void add(__global const float *a, __global const float *b, __global float *sum)\n"
                                  "{\n"
                                  "    const uint i = get_global_id(0);\n"
                                  "    sum[i] = a[i] + b[i];\n"
                                  "}\n";

struct blob {
    size_t size;
    uint8_t *bytes; /* Owned. */
};

struct native {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

/* Returns true if the call succeeded; otherwise prints what failed. */
static int succeeded(ingot_status_t status, const char *doing)
{
    if (status != INGOT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", doing, ingot_status_name(status), ingot_last_error_detail());
    return status == INGOT_SUCCESS;
}

/* Opens the database. Ids may be a few kilobytes long, and SQLite compares them in full. */
static sqlite3 *open_database(const char *path)
{
    sqlite3 *database = NULL;
    int error = sqlite3_open(path, &database);
    if (error == SQLITE_OK)
        error = sqlite3_busy_timeout(database, 1000);
    if (error == SQLITE_OK)
        error = sqlite3_exec(database, "CREATE TABLE IF NOT EXISTS programs (id BLOB PRIMARY KEY, blob BLOB NOT NULL)",
                             NULL, NULL, NULL);
    if (error == SQLITE_OK)
        return database;
    fprintf(stderr, "%s: %s; going on without\n", path, sqlite3_errmsg(database));
    sqlite3_close(database);
    return NULL;
}

static int bind(sqlite3_stmt *statement, int position, size_t size, const uint8_t *bytes)
{
    return sqlite3_bind_blob64(statement, position, bytes, size, SQLITE_STATIC) == SQLITE_OK;
}

static int copy_column(sqlite3_stmt *row, struct blob *blob)
{
    const void *bytes = sqlite3_column_blob(row, 0);
    const size_t size = (size_t)sqlite3_column_bytes(row, 0);
    blob->bytes = size > 0 ? malloc(size) : NULL;
    if (blob->bytes == NULL)
        return 0;
    memcpy(blob->bytes, bytes, size);
    blob->size = size;
    return 1;
}

/* Loads a blob. Returns true if the database has one under the id. */
static int load(sqlite3 *database, size_t id_size, const uint8_t *id, struct blob *blob)
{
    sqlite3_stmt *query = NULL;
    int found = 0;
    if (database != NULL &&
        sqlite3_prepare_v2(database, "SELECT blob FROM programs WHERE id = ?1", -1, &query, NULL) == SQLITE_OK &&
        bind(query, 1, id_size, id) && sqlite3_step(query) == SQLITE_ROW)
        found = copy_column(query, blob);
    sqlite3_finalize(query);
    return found;
}

static void store(sqlite3 *database, size_t id_size, const uint8_t *id, const struct blob *blob)
{
    static const char text[] = "INSERT OR REPLACE INTO programs (id, blob) VALUES (?1, ?2)";
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(database, text, -1, &insert, NULL) != SQLITE_OK || !bind(insert, 1, id_size, id) ||
        !bind(insert, 2, blob->size, blob->bytes) || sqlite3_step(insert) != SQLITE_DONE)
        fprintf(stderr, "not stored: %s\n", sqlite3_errmsg(database));
    sqlite3_finalize(insert);
}

/* Gets the blob of a program, with the second of the three functions. */
static int take_blob(ingot_program_t program, struct blob *blob)
{
    ingot_status_t status = ingot_program_get_cache_blob(program, &blob->size, NULL);
    if (status == INGOT_SUCCESS) {
        blob->bytes = malloc(blob->size);
        status =
            blob->bytes == NULL ? INGOT_OUT_OF_MEMORY : ingot_program_get_cache_blob(program, &blob->size, blob->bytes);
    }
    return succeeded(status, "taking the blob");
}

/* Creates a program from a blob, with the third function, or by compiling. */
static ingot_program_t make_program(ingot_program_desc_t desc, const struct blob *blob, int *from_storage)
{
    ingot_program_t program = NULL;
    *from_storage = 0;
    if (blob->bytes != NULL) {
        const ingot_status_t status = ingot_program_create_from_cache_blob(&program, desc, blob->size, blob->bytes);
        *from_storage = succeeded(status, "blob refused, building instead");
    }
    if (program == NULL)
        succeeded(ingot_program_get(&program, desc, 0), "building");
    return program;
}

static int run_add(const struct native *native, cl_kernel kernel)
{
    enum { COUNT = 1024 };
    static float a[COUNT], b[COUNT], sum[COUNT];
    const size_t global = COUNT, local = 64;
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    cl_mem buffers[3] = {
        clCreateBuffer(native->context, CL_MEM_COPY_HOST_PTR, sizeof(a), a, NULL),
        clCreateBuffer(native->context, CL_MEM_COPY_HOST_PTR, sizeof(b), b, NULL),
        clCreateBuffer(native->context, CL_MEM_WRITE_ONLY, sizeof(sum), NULL, NULL),
    };
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; i < 3; ++i)
        error |= clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(native->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(native->queue, buffers[2], CL_TRUE, 0, sizeof(sum), sum, 0, NULL, NULL);
    for (int i = 0; i < 3; ++i)
        if (buffers[i] != NULL)
            clReleaseMemObject(buffers[i]);
    for (int i = 0; i < COUNT; ++i)
        wrong += sum[i] != (float)(3 * i);
    printf("launched: %d wrong sums\n", wrong);
    return error == CL_SUCCESS && wrong == 0;
}

static int launch(const struct native *native, ingot_program_t program)
{
    ingot_kernel_t kernel = NULL;
    cl_kernel native_kernel = NULL;
    const int right = succeeded(ingot_kernel_create(&kernel, program, 0, "add"), "kernel") &&
                      succeeded(ingot_opencl_kernel_get_native(kernel, &native_kernel), "native kernel") &&
                      run_add(native, native_kernel);
    ingot_kernel_release(kernel);
    return right;
}

/* Gets the id, with the first function. Then loads or builds the program, runs it, and stores it if it was compiled. */
static int use_program(const struct native *native, ingot_program_desc_t desc, sqlite3 *database)
{
    size_t id_size = 0;
    const uint8_t *id = NULL;
    struct blob blob = {0, NULL};
    int from_storage = 0;
    const int has_id = succeeded(ingot_program_desc_get_cache_blob_id(desc, &id_size, &id), "id");
    if (has_id)
        load(database, id_size, id, &blob);
    ingot_program_t program = make_program(desc, &blob, &from_storage);
    free(blob.bytes);
    if (program == NULL)
        return 0;
    printf("origin: %s\n", from_storage ? "storage" : "build");

    /* Takes the blob after the first launch, because some drivers finish code generation there (see
     * ingot_device_info_t). */
    const int right = launch(native, program);
    blob.bytes = NULL;
    if (has_id && database != NULL && !from_storage && take_blob(program, &blob))
        store(database, id_size, id, &blob);
    free(blob.bytes);
    ingot_program_release(program);
    return right;
}

static ingot_program_desc_t describe(ingot_context_t context)
{
    ingot_source_t source = NULL;
    ingot_program_desc_t desc = NULL;
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = INGOT_SOURCE_OPENCL_C;
    source_info.bytes = source_text;
    source_info.size = sizeof(source_text) - 1;
    source_info.name = "add.cl";
    if (!succeeded(ingot_source_create(&source, &source_info), "source"))
        return NULL;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    succeeded(ingot_program_desc_create(&desc, context, &info), "description");
    ingot_source_release(source);
    return desc;
}

static int open_native(struct native *native)
{
    cl_platform_id platform;
    cl_int error = clGetPlatformIDs(1, &platform, NULL);
    if (error == CL_SUCCESS)
        error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &native->device, NULL);
    if (error == CL_SUCCESS)
        native->context = clCreateContext(NULL, 1, &native->device, NULL, NULL, &error);
    if (error == CL_SUCCESS)
        native->queue = clCreateCommandQueueWithProperties(native->context, native->device, NULL, &error);
    return error == CL_SUCCESS;
}

int main(int count, char **arguments)
{
    struct native native;
    if (count != 2 || !open_native(&native)) {
        fputs("usage: own_storage FILE.sqlite, on a machine with an OpenCL device\n", stderr);
        return 2;
    }
    sqlite3 *database = open_database(arguments[1]);
    ingot_context_t context = NULL;
    ingot_program_desc_t desc = NULL;
    if (succeeded(ingot_opencl_context_create(&context, native.context, 1, &native.device, NULL), "context"))
        desc = describe(context);
    const int right = desc != NULL && use_program(&native, desc, database);

    ingot_program_desc_release(desc);
    ingot_context_release(context);
    sqlite3_close(database);
    clReleaseCommandQueue(native.queue);
    clReleaseContext(native.context);
    return right ? 0 : 1;
}

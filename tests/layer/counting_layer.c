/*
 * counting_layer.c - an OpenCL layer that records how programs are created and built: for each call, it appends a line
 * of one word to the file that INGOT_TEST_COUNTS names. Below another layer, it shows which calls that layer passes on.
 *
 * The words are source, il and binary for the creation of a program; build for a build of a program that has a source
 * or intermediate language, and load for a build of any other program; compile; and link.
 */
#include <CL/cl_layer.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cl_icd_dispatch table;
static const cl_icd_dispatch *target;

static void note(const char *line)
{
    const char *path = getenv("INGOT_TEST_COUNTS");
    const int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return;
    (void)!write(file, line, strlen(line));
    (void)close(file);
}

static cl_program CL_API_CALL create_source(cl_context context, cl_uint count, const char **strings,
                                            const size_t *lengths, cl_int *error)
{
    note("source\n");
    return target->clCreateProgramWithSource(context, count, strings, lengths, error);
}

static cl_program CL_API_CALL create_il(cl_context context, const void *il, size_t size, cl_int *error)
{
    note("il\n");
    return target->clCreateProgramWithIL(context, il, size, error);
}

static cl_program CL_API_CALL create_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const size_t *sizes, const unsigned char **binaries, cl_int *statuses,
                                            cl_int *error)
{
    note("binary\n");
    return target->clCreateProgramWithBinary(context, count, devices, sizes, binaries, statuses, error);
}

static int has_text(cl_program program, cl_program_info which)
{
    size_t size = 0;
    return target->clGetProgramInfo(program, which, 0, NULL, &size) == CL_SUCCESS && size > 1;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    note(has_text(program, CL_PROGRAM_SOURCE) || has_text(program, CL_PROGRAM_IL) ? "build\n" : "load\n");
    return target->clBuildProgram(program, count, devices, options, notify, data);
}

static cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                  cl_uint header_count, const cl_program *headers, const char **names,
                                  void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    note("compile\n");
    return target->clCompileProgram(program, count, devices, options, header_count, headers, names, notify, data);
}

static cl_program CL_API_CALL link_programs(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const char *options, cl_uint input_count, const cl_program *inputs,
                                            void(CL_CALLBACK *notify)(cl_program, void *), void *data, cl_int *error)
{
    note("link\n");
    return target->clLinkProgram(context, count, devices, options, input_count, inputs, notify, data, error);
}

/* Newer loaders require these two functions. Only some headers declare them, so these declarations use other names in C
 * and set the symbols' names. */
cl_int CL_API_CALL init_with_properties(cl_uint count, const cl_icd_dispatch *next, cl_uint *count_ret,
                                        const cl_icd_dispatch **table_ret,
                                        const void *properties) __asm__("clInitLayerWithProperties");
cl_int CL_API_CALL deinit(void) __asm__("clDeinitLayer");

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *size_ret)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (name != CL_LAYER_API_VERSION || (value != NULL && size < sizeof(version)))
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, &version, sizeof(version));
    if (size_ret != NULL)
        *size_ret = sizeof(version);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *next, cl_uint *count_ret,
                                            const cl_icd_dispatch **table_ret)
{
    const size_t size = count * sizeof(void *);
    if (next == NULL || count_ret == NULL || table_ret == NULL)
        return CL_INVALID_VALUE;
    target = next;
    memcpy(&table, next, size < sizeof(table) ? size : sizeof(table));
    table.clCreateProgramWithSource = create_source;
    table.clCreateProgramWithIL = create_il;
    table.clCreateProgramWithBinary = create_binary;
    table.clBuildProgram = build;
    table.clCompileProgram = compile;
    table.clLinkProgram = link_programs;
    *count_ret = sizeof(table) / sizeof(void *);
    *table_ret = &table;
    return CL_SUCCESS;
}

cl_int CL_API_CALL init_with_properties(cl_uint count, const cl_icd_dispatch *next, cl_uint *count_ret,
                                        const cl_icd_dispatch **table_ret, const void *properties)
{
    (void)properties;
    return clInitLayer(count, next, count_ret, table_ret);
}

cl_int CL_API_CALL deinit(void)
{
    return CL_SUCCESS;
}

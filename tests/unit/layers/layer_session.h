/*
 * layer_session.h - runs scenarios for the OpenCL layer. Each scenario reports what it saw. The report must be the same
 * without the layer, with the layer and an empty store, and with the layer and a store that has the programs.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <ingot/opencl.h>

#include <CL/cl_icd.h>

#include "support/not_copied.h"

namespace layer_session
{

/* The first function returns the loader's functions, which count what they compile. The second one returns the
 * functions that the layer puts in their place. */
const cl_icd_dispatch &bare();
const cl_icd_dispatch &layered();

/* How many programs the layer's target, which is bare(), was asked to compile, and to link. */
extern std::atomic<int> compilation_count;
extern std::atomic<int> link_count;
/* How many programs the target was asked to build from the source that it returned of another program. The layer does
 * so once for each program that it stores on PoCL, which finds it in its cache (src/backends/opencl/binary.c), so these
 * are not in compilation_count. */
extern std::atomic<int> copy_count;
/* True if the layer's target must refuse to create the next kernel. */
extern std::atomic<bool> refuses_kernel;
/* If set, the layer's target calls it with each reference count of a program, before it returns the count. */
extern std::function<void(cl_uint)> on_program_count;
/* Functions of extensions that the layer's target has in place of the driver's. NULL: it does not have the function. */
extern std::map<std::string, void *> extension_functions;

/* What a scenario saw. */
using Report = std::vector<std::string>;

/* A context that was created with one of the two tables, and the report of what was seen with it. */
struct Session : NotCopied {
    const cl_icd_dispatch &cl;
    cl_context context;
    std::vector<cl_device_id> devices;
    Report report;

    explicit Session(const cl_icd_dispatch &table, size_t device_count = 1);
    ~Session();

    void tell(const std::string &what, int64_t value);
    void tell(const std::string &what, const std::string &value);
    /* Reports the answer to a query, with its error and its size. */
    void ask(const std::string &what, const std::function<cl_int(size_t, void *, size_t *)> &query, bool is_number);

    cl_program source(const std::string &text);
    void build(cl_program program, const char *options);
    cl_kernel kernel(cl_program program, const char *name);

    void query_program(cl_program program);
    void query_kernel(cl_program program, cl_kernel kernel, bool with_attributes = true);
    /* Reports whether the driver launches a kernel with one buffer in work-groups of different sizes. Does nothing if
     * the program has no such kernel, because it did not build. */
    void launch_unevenly(cl_program program, const char *name);
};

/* Runs a scenario without the layer, and three times with it: cold, and twice warm. Expects equal reports. */
void compare(const std::function<void(Session &)> &scenario, size_t device_count = 1);

/* A program with the kernels `twice` and `add`. */
extern const char kTwo[];

} // namespace layer_session

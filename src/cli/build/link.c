/*
 * link.c - replays clCompileProgram and clLinkProgram; see link.h.
 *
 * The OpenCL layer compiles the objects, because only the layer can compile a source with the included files that the
 * recipe contains (see util/recipe_call.h). Only the layer knows the ids of these programs, too, so this file cannot
 * look up what was stored. Instead, it makes the calls twice, and the layer's counts show whether the second pass
 * compiled anything. A worker that has loaded the layer builds only linked programs, because programs that Ingot builds
 * itself must not go through the layer.
 */
#include "cli/build/link.h"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/memory.h"
#include "util/recipe_call.h"

enum { COUNTS_SIZE = 1 << 16, LOG_SIZE = 1024 };

/* The layer's counts. */
struct counts {
    uint64_t hits, builds, passed, build_ns;
};

/* The programs of one pass, released together. */
struct pass {
    cl_context context;
    cl_device_id device;
    cl_program *programs;
    size_t count;
};

static int counts_file = -1;
static off_t counts_read; /* the offset up to which counts_file has been read */

bool link_prepare(const char *layer, const struct common_options *options)
{
    char path[64];
    counts_file = memfd_create("ingot-layer-counts", MFD_CLOEXEC);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", counts_file);
    return counts_file >= 0 && setenv("OPENCL_LAYERS", layer, 1) == 0 && unsetenv("INGOT_LAYER_DISABLE") == 0 &&
           setenv("INGOT_LAYER_STATS", path, 1) == 0 && setenv("INGOT_PERSIST_STORE_MODE", "now", 1) == 0 &&
           (options->directory == NULL || setenv("INGOT_PERSIST_DIR", options->directory, 1) == 0) &&
           (options->name_space == NULL || setenv("INGOT_PERSIST_NAMESPACE", options->name_space, 1) == 0);
}

static void take_count(const char *line, struct counts *counts)
{
    uint64_t value = 0;
    if (sscanf(line, "hits=%" SCNu64, &value) == 1)
        counts->hits += value;
    else if (sscanf(line, "builds=%" SCNu64, &value) == 1)
        counts->builds += value;
    else if (sscanf(line, "passed=%" SCNu64, &value) == 1)
        counts->passed += value;
    else if (sscanf(line, "build_ns=%" SCNu64, &value) == 1)
        counts->build_ns += value;
}

/* Returns the counts that the layer has written since the last call. */
static struct counts read_counts(void)
{
    struct counts counts = {0, 0, 0, 0};
    char *text = memory_get(COUNTS_SIZE);
    char *rest = NULL;
    const ssize_t size = pread(counts_file, text, COUNTS_SIZE - 1, counts_read);
    text[size > 0 ? size : 0] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        take_count(line, &counts);
    free(text);
    counts_read += size > 0 ? size : 0;
    return counts;
}

/* ---- the application's calls ------------------------------------------------------------------------------------- */

static cl_program keep(struct pass *pass, cl_program program)
{
    if (program != NULL) {
        pass->programs = memory_grow(pass->programs, pass->count, sizeof(cl_program));
        pass->programs[pass->count++] = program;
    }
    return program;
}

/* Writes an error message with the program's log. Returns false. */
static bool refuse(const struct pass *pass, cl_program program, const char *call, cl_int error, struct message *result)
{
    char log[LOG_SIZE] = "";
    size_t size = 0;
    if (program != NULL &&
        clGetProgramBuildInfo(program, pass->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS && size != 0) {
        char *whole = memory_get(size);
        if (clGetProgramBuildInfo(program, pass->device, CL_PROGRAM_BUILD_LOG, size, whole, NULL) == CL_SUCCESS)
            (void)snprintf(log, sizeof(log), "%.*s", (int)(size < sizeof(log) ? size : sizeof(log) - 1), whole);
        free(whole);
    }
    (void)snprintf(result->text, sizeof(result->text), "%s returned %d: %s", call, (int)error, log);
    return false;
}

/* Returns the layer's function that compiles objects, or NULL. */
static recipe_call_t find_call(const struct device *device)
{
    recipe_call_t call = NULL;
    *(void **)&call = clGetExtensionFunctionAddressForPlatform(device->owner, RECIPE_CALL_NAME);
    return call;
}

static bool compile_objects(struct pass *pass, const struct device *device, const struct plan_program *program,
                            cl_program *objects, struct message *result)
{
    const recipe_call_t create = find_call(device);
    bool is_made = create != NULL;
    if (!is_made)
        (void)snprintf(result->text, sizeof(result->text), "the OpenCL layer is not loaded, or is of another version");
    for (size_t i = 0; i < program->facts.object_count && is_made; ++i) {
        ingot_recipe_program_t object = INGOT_RECIPE_PROGRAM_INIT;
        (void)ingot_recipe_get_program(program->recipe, program->facts.objects[i], &object);
        objects[i] = keep(pass, create(pass->context, ingot_recipe_get_path(program->recipe), object.key,
                                       sizeof(result->text), result->text));
        is_made = objects[i] != NULL;
    }
    return is_made;
}

static bool make_calls(struct pass *pass, const struct device *device, const struct plan_program *program,
                       struct message *result)
{
    const ingot_recipe_program_t *facts = &program->facts;
    cl_program *objects = memory_get(facts->object_count * sizeof(cl_program));
    cl_int error = CL_SUCCESS;
    bool is_made = compile_objects(pass, device, program, objects, result);
    if (is_made) {
        cl_program linked =
            clLinkProgram(pass->context, 1, &pass->device, facts->has_options != 0 ? facts->link_options : NULL,
                          (cl_uint)facts->object_count, objects, NULL, NULL, &error);
        is_made = keep(pass, linked) != NULL && error == CL_SUCCESS;
        if (!is_made)
            (void)refuse(pass, linked, "clLinkProgram", error, result);
    }
    free(objects);
    return is_made;
}

/* Makes the calls once, and counts what the layer did. If a call fails, writes an error message to `result` and returns
 * false. */
static bool run_pass(const struct plan_program *program, const struct device *device, struct counts *counts,
                     struct message *result)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->owner, 0};
    struct pass pass = {.device = device->handle};
    cl_int error = CL_SUCCESS;
    (void)read_counts();
    pass.context = clCreateContext(properties, 1, &pass.device, NULL, NULL, &error);
    if (pass.context == NULL)
        return refuse(&pass, NULL, "clCreateContext", error, result);
    const bool is_made = make_calls(&pass, device, program, result);
    for (size_t i = pass.count; i > 0; --i)
        (void)clReleaseProgram(pass.programs[i - 1]);
    (void)clReleaseContext(pass.context);
    free(pass.programs);
    *counts = read_counts();
    return is_made;
}

void link_build(const struct plan_program *program, const struct device *device, struct message *result)
{
    struct counts first;
    struct counts again;
    result->outcome = OUTCOME_FAILED;
    if (!run_pass(program, device, &first, result) || !run_pass(program, device, &again, result))
        return;
    result->build_ns = first.build_ns;
    if (again.builds != 0 || again.passed != 0 || again.hits == 0) {
        result->outcome = OUTCOME_UNSTORED;
        (void)snprintf(result->text, sizeof(result->text),
                       "the OpenCL layer does not store it: it compiled %" PRIu64 " and passed through %" PRIu64
                       " programs when the calls were repeated (see doc/layer.md)",
                       again.builds, again.passed);
        return;
    }
    result->outcome = first.builds != 0 ? OUTCOME_BUILT : OUTCOME_PRESENT;
}

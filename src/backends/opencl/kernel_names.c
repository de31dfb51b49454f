/*
 * kernel_names.c - gets the names of a program's kernels.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/native_binary.h"

#include <string.h>

static ingot_status_t read_names_of_copy(const struct opencl_state *state, const struct opencl_program *program,
                                         bool for_all, struct opencl_text *text)
{
    cl_program native = NULL;
    ingot_status_t status = opencl_copy_program(state, program, for_all, &native);
    if (status != INGOT_SUCCESS)
        return status;
    status = opencl_program_text(state, native, CL_PROGRAM_KERNEL_NAMES, text);
    (void)state->cl->clReleaseProgram(native);
    return status;
}

/* Reads the names. Drivers list the kernels of the native program's first device. If the program was not built for that
 * device, Intel's driver lists nothing. In this case, the names are read from a copy that is made from the binary, for
 * only the device of the binary. If the driver returns an error, as NVIDIA's does, the names are read from a copy that
 * has the binary for all devices of the context. */
static ingot_status_t read_kernel_names(const struct opencl_state *state, const struct opencl_program *program,
                                        struct opencl_text *text)
{
    ingot_status_t status = opencl_program_text(state, program->native, CL_PROGRAM_KERNEL_NAMES, text);
    if (program->device_count == state->context_device_count)
        return status;
    if (status == INGOT_SUCCESS && *text->chars == '\0') {
        opencl_text_fini(&state->allocator, text);
        status = read_names_of_copy(state, program, false, text);
    }
    return status == INGOT_BACKEND_ERROR ? read_names_of_copy(state, program, true, text) : status;
}

/* OpenCL separates the names with ';'. Ingot ends each with a NUL. */
ingot_status_t opencl_get_kernel_names(void *opaque, void *opaque_program, ingot_sink_t *names)
{
    const struct opencl_state *state = opaque;
    const struct opencl_program *program = opaque_program;
    struct opencl_text text = {NULL, 0};
    size_t length = 0;
    ingot_status_t status = read_kernel_names(state, program, &text);
    if (status != INGOT_SUCCESS)
        return status;
    length = strlen(text.chars);
    for (char *c = text.chars; (c = strchr(c, ';')) != NULL; ++c)
        *c = '\0';
    if (length > 0)
        status = ingot_sink_write(names, length + 1, text.chars);
    opencl_text_fini(&state->allocator, &text);
    return status;
}

/*
 * object_backend.c - the Ingot backend for objects, the programs that clCompileProgram makes.
 *
 * The blob of an object says only that it compiles, and with which messages. Not all drivers can link an object
 * that was made from a binary (PoCL 3.1 cannot). So a loaded object has no native program. object.c compiles the
 * object if a native program is needed.
 */
#include "layers/opencl/objects/compiler.h"
#include "layers/opencl/objects/object.h"
#include "layers/opencl/objects/piece.h"

static int accepts(void *state, ingot_source_kind_t kind)
{
    (void)state;
    return kind == INGOT_SOURCE_OPENCL_C;
}

static void get_text_rules(void *opaque, ingot_text_rules_t *rules)
{
    const struct piece_state *state = opaque;
    state->opencl_ops->get_text_rules(state->opencl_state, rules);
}

static ingot_status_t build(void *opaque, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **out)
{
    const struct piece_state *state = opaque;
    struct piece *piece = NULL;
    cl_int error = CL_SUCCESS;
    (void)device_count;
    (void)device_indices;
    const cl_program native = compiler_create(state->context, &request->sources[0], &error);
    if (native == NULL)
        return ingot_set_error(INGOT_BACKEND_ERROR, error, "clCreateProgramWithSource: %d", (int)error);
    error = compiler_run(state->context, native, compiler_options_of(request), request->header_count, request->headers);
    ingot_status_t status = piece_write_log(native, state->device, log);
    if (error != CL_SUCCESS)
        status = ingot_refuse_program(log, error, "clCompileProgram: %d", (int)error);
    if (status != INGOT_SUCCESS) {
        (void)layer_target.clReleaseProgram(native);
        return status;
    }
    status = piece_create(native, &piece);
    if (status == INGOT_SUCCESS)
        *out = piece;
    return status;
}

static ingot_status_t get_binary(void *state, void *piece, uint32_t device_index, ingot_sink_t *binary)
{
    static const uint8_t version = 1;
    (void)state;
    (void)piece;
    (void)device_index;
    return ingot_sink_write(binary, sizeof(version), &version);
}

static ingot_status_t load(void *state, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **out)
{
    struct piece *piece = NULL;
    (void)state;
    (void)request;
    (void)device_count;
    (void)device_indices;
    if (binaries[0].size != 1 || binaries[0].bytes[0] != 1)
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "a compiled object of an unknown version");
    const ingot_status_t status = piece_create(NULL, &piece);
    if (status == INGOT_SUCCESS)
        *out = piece;
    return status;
}

static ingot_backend_ops_t make_ops(void)
{
    ingot_backend_ops_t ops = {.name = "opencl_object",
                               .accepts = accepts,
                               .build = build,
                               .get_binary = get_binary,
                               .load = load,
                               .get_text_rules = get_text_rules};
    piece_complete_ops(&ops);
    return ops;
}

ingot_status_t piece_create_object_context(ingot_context_t *context, ingot_context_t opencl, cl_context native,
                                           cl_device_id device)
{
    const ingot_backend_ops_t ops = make_ops();
    return piece_create_context(context, &ops, opencl, native, device);
}

struct piece *piece_of_object(ingot_program_t program)
{
    const ingot_backend_ops_t ops = make_ops();
    return ingot_program_get_backend_program(program, &ops);
}

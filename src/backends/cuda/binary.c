/*
 * binary.c - programs taken apart into binaries, and made of them again.
 *
 * A binary is an image (image.h), whose code is a cubin: machine code, and nothing that a driver could compile. PTX is
 * refused here, because the driver would take it and compile.
 */
#include "backends/cuda/binary.h"

#include "backends/cuda/program.h"

ingot_status_t cuda_get_binary(void *state, void *opaque_program, uint32_t device_index, ingot_sink_t *binary)
{
    const struct cuda_program *program = opaque_program;
    const struct cuda_part *part = cuda_program_part(program, device_index);
    (void)state;
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    const struct cuda_bytes *bytes = &part->bytes;
    for (size_t i = 0; i < program->part_count && bytes->bytes == NULL; ++i) { /* an equal part's */
        if (program->parts[i].image.cubin == part->image.cubin)
            bytes = &program->parts[i].bytes;
    }
    return ingot_sink_write(binary, bytes->size, bytes->bytes);
}

/* Equal devices are given the same binary; it is copied once. */
static const struct cuda_part *find_equal(const struct cuda_program *program, size_t before,
                                          const ingot_binary_t *binaries)
{
    for (size_t i = 0; i < before; ++i) {
        if (binaries[i].bytes == binaries[before].bytes && binaries[i].size == binaries[before].size &&
            program->parts[i].bytes.bytes != NULL)
            return &program->parts[i];
    }
    return NULL;
}

static ingot_status_t copy_image(const struct cuda_state *state, const ingot_build_request_t *request,
                                 const ingot_binary_t *binary, struct cuda_part *part)
{
    if (binary->size == 0)
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "an empty binary");
    ingot_status_t status = cuda_bytes_copy(&part->bytes, &state->allocator, binary->size, binary->bytes);
    if (status != INGOT_SUCCESS)
        return status;
    status = cuda_image_read(&part->image, part->bytes.size, part->bytes.bytes);
    if (status == INGOT_SUCCESS &&
        !cuda_image_has_expressions(&part->image, request->name_expression_count, request->name_expressions))
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "a binary of other name expressions");
    return status;
}

ingot_status_t cuda_load(void *opaque, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, const ingot_binary_t *binaries, void **out)
{
    const struct cuda_state *state = opaque;
    struct cuda_program *program = NULL;
    ingot_status_t status = cuda_program_create(state, device_count, device_indices, &program);
    for (size_t i = 0; i < device_count && status == INGOT_SUCCESS; ++i) {
        const struct cuda_part *equal = find_equal(program, i, binaries);
        if (equal != NULL)
            program->parts[i].image = equal->image;
        else
            status = copy_image(state, request, &binaries[i], &program->parts[i]);
        if (status == INGOT_SUCCESS)
            status = cuda_part_load(state, &program->parts[i], INGOT_BLOB_REJECTED);
    }
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    cuda_destroy_program(opaque, program);
    return status;
}

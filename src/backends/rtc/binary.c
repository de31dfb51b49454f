/*
 * binary.c - gets the binaries of a program, and makes a program from binaries.
 *
 * x: machine code, and nothing that a driver could compile.
 * rtc_image_read refuses PTX, because the driver would accept and compile it.
 */
#include "backends/rtc/program.h"

#include <string.h>

ingot_status_t rtc_get_binary(void *state, void *opaque_program, uint32_t device_index, ingot_sink_t *binary)
{
    const struct rtc_program *program = opaque_program;
    const struct rtc_part *part = rtc_program_part(program, device_index);
    (void)state;
    if (part == NULL)
        return INGOT_INVALID_ARGUMENTS;
    return ingot_sink_write(binary, part->size, part->bytes);
}

/* Returns the index of the first binary that is the same as the binary at `index`. Identical devices get the same
 * binary, and the program keeps only one copy of it. */
static size_t first_with(const ingot_binary_t *binaries, size_t index)
{
    size_t first = 0;
    while (binaries[first].bytes != binaries[index].bytes || binaries[first].size != binaries[index].size)
        ++first;
    return first;
}

/* Rounds up to a multiple of 8, so that each image is aligned. */
static size_t pad_image_size(size_t size)
{
    return (size + 7) / 8 * 8;
}

static size_t size_of_all(size_t count, const ingot_binary_t *binaries)
{
    size_t size = 0;
    for (size_t i = 0; i < count; ++i)
        size += first_with(binaries, i) == i ? pad_image_size(binaries[i].size) : 0;
    return size;
}

static ingot_status_t load_rtc_part(const struct rtc_state *state, const ingot_build_request_t *request,
                                    struct rtc_part *part)
{
    const ingot_status_t status = rtc_image_read(
        &part->image, state->vendor->format, state->devices[part->device_index].architecture, part->size, part->bytes);
    if (status != INGOT_SUCCESS)
        return status;
    if (!rtc_image_has_expressions(&part->image, request->name_expression_count, request->name_expressions))
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "the binary was built with other name expressions");
    return rtc_part_load(state, part, INGOT_BLOB_REJECTED);
}

ingot_status_t rtc_load(void *opaque, const ingot_build_request_t *request, size_t device_count,
                        const uint32_t *device_indices, const ingot_binary_t *binaries, void **out)
{
    const struct rtc_state *state = opaque;
    struct rtc_program *program = NULL;
    ingot_status_t status =
        rtc_program_create(state, device_count, device_indices, size_of_all(device_count, binaries), &program);
    uint8_t *place = status == INGOT_SUCCESS ? rtc_program_room(program) : NULL;
    for (size_t i = 0; i < device_count && status == INGOT_SUCCESS; ++i) {
        struct rtc_part *part = &program->parts[i];
        const size_t first = first_with(binaries, i);
        part->size = binaries[i].size;
        part->bytes = first == i ? place : program->parts[first].bytes;
        if (first == i && part->size > 0) {
            memcpy(place, binaries[i].bytes, part->size);
            place += pad_image_size(part->size);
        }
        status = load_rtc_part(state, request, part);
    }
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    rtc_destroy_program(opaque, program);
    return status;
}

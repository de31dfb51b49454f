/*
 * build.c - compiles and links a program, and loads the result as a module for each device.
 *
 * Of several identical devices, the core requests only one. So this file compiles for every requested device.
 */
#include "backends/rtc/program.h"

ingot_status_t rtc_build(void *opaque, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, ingot_sink_t *log, void **out)
{
    const struct rtc_state *state = opaque;
    struct rtc_program *program = NULL;
    ingot_status_t status = rtc_program_create(state, device_count, device_indices, 0, &program);
    for (size_t i = 0; i < device_count && status == INGOT_SUCCESS; ++i) {
        struct rtc_part *part = &program->parts[i];
        const struct rtc_target target = {state->allocator, state->driver_major,
                                          state->devices[part->device_index].architecture};
        status = state->vendor->compile(&target, request, log, &part->built);
        part->size = part->built.size;
        part->bytes = part->built.bytes;
        if (status == INGOT_SUCCESS)
            status = rtc_image_read(&part->image, state->vendor->format, target.architecture, part->size, part->bytes);
        /* The driver refuses this code only if an option named an architecture other than the device's. */
        if (status == INGOT_SUCCESS)
            status = rtc_part_load(state, part, INGOT_BUILD_FAILED);
    }
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    rtc_destroy_program(opaque, program);
    return status;
}

/*
 * program.h - native modules, the devices that they were made for, and the images that they were made of.
 */
#ifndef INGOT_BACKENDS_CUDA_PROGRAM_H
#define INGOT_BACKENDS_CUDA_PROGRAM_H

#include "backends/cuda/compiler/image.h"
#include "backends/cuda/state.h"

/* A module is of one context. The image is kept, because a driver does not give out what it loaded. */
struct cuda_part {
    uint32_t device_index;
    CUmodule module; /* NULL: not made */
    size_t size;
    const uint8_t *bytes;    /* of the image; equal parts have the same */
    struct cuda_image image; /* what they say */
    struct cuda_bytes built; /* where they were compiled here; else they lie behind the parts */
};

struct cuda_program {
    size_t block_size;
    size_t part_count;
    struct cuda_part parts[];
};

/* A program for these devices without images and modules, and with room for bytes of images in the same block: loading
 * is too short for another allocation. */
ingot_status_t cuda_program_create(const struct cuda_state *state, size_t device_count, const uint32_t *device_indices,
                                   size_t room, struct cuda_program **program);
uint8_t *cuda_program_room(struct cuda_program *program);
/* The part for a device; NULL, with a detail, where the program was not made for it. */
const struct cuda_part *cuda_program_part(const struct cuda_program *program, uint32_t device_index);
/* Makes the module of the part's image. `refused`: the status where the driver does not take it. */
ingot_status_t cuda_part_load(const struct cuda_state *state, struct cuda_part *part, ingot_status_t refused);

#endif

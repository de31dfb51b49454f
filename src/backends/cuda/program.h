/*
 * program.h - holds a program's native modules, their devices, and the images that they were loaded from.
 */
#ifndef INGOT_BACKENDS_CUDA_PROGRAM_H
#define INGOT_BACKENDS_CUDA_PROGRAM_H

#include "backends/cuda/compiler/image.h"
#include "backends/cuda/state.h"

/* A program's part for one device: a module, which belongs to one context, and its image. The image is kept, because a
 * driver does not return what it loaded. */
struct cuda_part {
    uint32_t device_index;
    CUmodule module; /* NULL: not loaded */
    size_t size;
    const uint8_t *bytes;    /* the image; equal parts share it */
    struct cuda_image image; /* parsed from the bytes */
    /* set if the image was compiled in this process; a loaded image is in the program's block, after the parts */
    struct cuda_bytes built;
};

struct cuda_program {
    size_t block_size;
    size_t part_count;
    struct cuda_part parts[];
};

/* Creates a program for these devices, without images and modules. Its block also has `room` bytes for images, because
 * another allocation would slow a load noticeably. */
ingot_status_t cuda_program_create(const struct cuda_state *state, size_t device_count, const uint32_t *device_indices,
                                   size_t room, struct cuda_program **program);
uint8_t *cuda_program_room(struct cuda_program *program);
/* Returns the part for a device, or NULL, with a detail, if the program was not made for the device. */
const struct cuda_part *cuda_program_part(const struct cuda_program *program, uint32_t device_index);
/* Loads the part's image as its module. `refused` is the status if the driver refuses the image. */
ingot_status_t cuda_part_load(const struct cuda_state *state, struct cuda_part *part, ingot_status_t refused);

#endif

/*
 * program.h - holds a program's native modules, their devices, and the images that they were loaded from.
 */
#ifndef INGOT_BACKENDS_RTC_PROGRAM_H
#define INGOT_BACKENDS_RTC_PROGRAM_H

#include "backends/rtc/vendor.h"

/* A program's part for one device: a module, and its image. The image is kept, because a driver does not return the
 * images that it loaded. */
struct rtc_part {
    uint32_t device_index;
    void *module; /* NULL: not loaded */
    size_t size;
    const uint8_t *bytes;   /* the image; parts of identical devices share it */
    struct rtc_image image; /* parsed from the bytes */
    /* holds the image if it was compiled in this process; a loaded image follows the parts in the program's block */
    struct rtc_bytes built;
};

struct rtc_program {
    size_t block_size;
    size_t part_count;
    struct rtc_part parts[];
};

/* Creates a program for these devices, without images and modules. The program's block also has `room` bytes for
 * images, because a separate allocation would slow loading noticeably. */
ingot_status_t rtc_program_create(const struct rtc_state *state, size_t device_count, const uint32_t *device_indices,
                                  size_t room, struct rtc_program **program);
uint8_t *rtc_program_room(struct rtc_program *program);
/* Returns the part for a device. If the program was not made for the device, sets the error detail and returns NULL. */
const struct rtc_part *rtc_program_part(const struct rtc_program *program, uint32_t device_index);
/* Loads the part's image as its module. Returns `refused` if the driver refuses the image. */
ingot_status_t rtc_part_load(const struct rtc_state *state, struct rtc_part *part, ingot_status_t refused);

#endif

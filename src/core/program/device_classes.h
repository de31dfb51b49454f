/*
 * device_classes.h - maps devices to binaries: equal devices share one.
 */
#ifndef INGOT_CORE_PROGRAM_DEVICE_CLASSES_H
#define INGOT_CORE_PROGRAM_DEVICE_CLASSES_H

#include "core/program/program.h"

/* A distinct identity among a descriptor's devices. */
struct device_class {
    const struct device_identity *identity;
    uint32_t device;       /* the first device with this identity */
    ingot_binary_t binary; /* bytes is NULL if there is none yet */
};

struct device_classes {
    size_t class_count;
    struct device_class *classes; /* has room for device_count classes */
    size_t *class_of;             /* [device position] */
};

/* Groups a descriptor's devices. The result is valid as long as the arena's pieces. */
ingot_status_t device_classes_init(struct device_classes *classes, const struct ingot_program_desc *desc,
                                   struct arena *arena);

#endif

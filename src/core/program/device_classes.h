/*
 * device_classes.h - groups a descriptor's devices by identity, because devices with equal identities share a binary.
 */
#ifndef INGOT_CORE_PROGRAM_DEVICE_CLASSES_H
#define INGOT_CORE_PROGRAM_DEVICE_CLASSES_H

#include "core/program/program.h"

/* A group of a descriptor's devices that have the same identity. */
struct device_class {
    const struct device_identity *identity;
    uint32_t device;       /* the first device with this identity */
    ingot_binary_t binary; /* binary.bytes is NULL if there is no binary yet */
};

struct device_classes {
    size_t class_count;
    struct device_class *classes; /* has room for device_count classes */
    size_t *class_of;             /* the class of each device, by the device's position in the descriptor */
};

/* Groups a descriptor's devices. The result is in the arena. */
ingot_status_t device_classes_init(struct device_classes *classes, const struct ingot_program_desc *desc,
                                   struct arena *arena);

#endif

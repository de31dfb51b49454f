/*
 * device_classes.c - groups a program's devices by identity; see device_classes.h.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/program/device_classes.h"

static size_t class_of_device(struct device_classes *classes, const struct device_identity *identity, uint32_t device)
{
    for (size_t i = 0; i < classes->class_count; ++i) {
        if (memcmp(classes->classes[i].identity->digest, identity->digest, DIGEST_SIZE) == 0)
            return i;
    }
    classes->classes[classes->class_count] = (struct device_class){identity, device, {0, NULL}};
    return classes->class_count++;
}

ingot_status_t device_classes_init(struct device_classes *classes, const struct ingot_program_desc *desc,
                                   struct arena *arena)
{
    ingot_status_t status = INGOT_SUCCESS;

    classes->class_count = 0;
    classes->classes = arena_take(arena, desc->device_count * sizeof(*classes->classes));
    classes->class_of = arena_take(arena, desc->device_count * sizeof(*classes->class_of));
    if (arena->failed)
        return error_out_of_memory();
    for (size_t i = 0; status == INGOT_SUCCESS && i < desc->device_count; ++i) {
        const struct device_identity *identity = NULL;
        status = context_get_identity(desc->context, desc->device_indices[i], &identity);
        if (status == INGOT_SUCCESS)
            classes->class_of[i] = class_of_device(classes, identity, desc->device_indices[i]);
    }
    return status;
}

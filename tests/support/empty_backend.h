/*
 * empty_backend.h - the operations of a backend that does nothing. A test replaces those that matter to it.
 */
#pragma once

#include <ingot/backend.h>

inline ingot_backend_ops_t empty_backend(const char *name)
{
    static char nothing; /* every native program and kernel is a pointer to it */
    ingot_backend_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.name = name;
    ops.destroy = [](void *) {};
    ops.identify_device = [](void *, uint32_t, ingot_identity_t *identity) {
        return ingot_identity_add(identity, "device_name", 4, "none");
    };
    ops.accepts = [](void *, ingot_source_kind_t) { return 1; };
    ops.build = [](void *, const ingot_build_request_t *, size_t, const uint32_t *, ingot_sink_t *, void **program) {
        *program = &nothing;
        return INGOT_SUCCESS;
    };
    ops.destroy_program = [](void *, void *) {};
    ops.get_kernel_names = [](void *, void *, ingot_sink_t *) { return INGOT_SUCCESS; };
    ops.create_kernel = [](void *, void *, uint32_t, const char *, void **kernel) {
        *kernel = &nothing;
        return INGOT_SUCCESS;
    };
    ops.destroy_kernel = [](void *, void *) {};
    return ops;
}

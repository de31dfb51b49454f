/*
 * state.h - what an Ingot context over Level Zero is made of.
 *
 * Everything here is written once, by ingot_level_zero_context_create, and only read afterwards; so it needs no lock.
 * The native handles are the application's, which keeps them alive: Level Zero counts no references.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_STATE_H
#define INGOT_BACKENDS_LEVEL_ZERO_STATE_H

#include <ingot/backend.h>
#include <ingot/level_zero.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct level_zero_state {
    ingot_allocator_t allocator;
    ze_driver_handle_t driver;
    ze_context_handle_t context;
    bool links_programs; /* several modules in one zeModuleCreate */
    bool tells_ip_version;
    uint32_t device_count;
    ze_device_handle_t *devices;
};

/* What the driver says of a device, and of the code that it takes. */
ingot_status_t level_zero_device_properties(const struct level_zero_state *state, uint32_t device_index,
                                            ze_device_properties_t *properties);
ingot_status_t level_zero_module_properties(const struct level_zero_state *state, uint32_t device_index,
                                            ze_device_module_properties_t *properties);

/* Learns which extensions of use here the driver has. */
ingot_status_t level_zero_learn_extensions(struct level_zero_state *state);

/* Text that the driver keeps, NUL-terminated, with its room. */
struct level_zero_text {
    char *chars;
    size_t size;
};
/* Ends the native log, which may be NULL, in any case. */
ingot_status_t level_zero_take_log_text(const struct level_zero_state *state, ze_module_build_log_handle_t log,
                                        struct level_zero_text *text);
void level_zero_text_fini(const struct level_zero_state *state, struct level_zero_text *text);

#endif

/*
 * state.h - the state of an Ingot context for Level Zero.
 *
 * level_zero_state_create and level_zero_state_learn write everything here once. Afterwards it is only read, so it
 * needs no lock. The native handles belong to the application, which keeps them alive: Level Zero does not count
 * references.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_STATE_H
#define INGOT_BACKENDS_LEVEL_ZERO_STATE_H

#include <ingot/level_zero.h>
#include <ingot/private/backend.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct level_zero_state {
    ingot_allocator_t allocator;
    ze_driver_handle_t driver;
    ze_context_handle_t context;
    bool links_programs;     /* the driver accepts several modules in one zeModuleCreate */
    bool reports_ip_version; /* the driver reports devices' IP versions */
    uint32_t device_count;
    ze_device_handle_t *devices;
};

/* Makes a state for devices of a driver, or for all of them if device_count is 0. */
ingot_status_t level_zero_state_create(struct level_zero_state **state, const ingot_allocator_t *allocator,
                                       ze_driver_handle_t driver, ze_context_handle_t context, uint32_t device_count,
                                       const ze_device_handle_t *devices);
/* Asks the driver about its extensions and the devices. `facts`: what is known of the same devices; NULL: nothing. */
ingot_status_t level_zero_state_learn(void *state, const void *facts);
void level_zero_state_destroy(void *state);

/* Asks the driver about the code that a device accepts. */
ingot_status_t level_zero_module_properties(const struct level_zero_state *state, uint32_t device_index,
                                            ze_device_module_properties_t *properties);

/* Finds out whether the driver has the extensions that this backend uses. */
ingot_status_t level_zero_learn_extensions(struct level_zero_state *state);

/* A NUL-terminated string from the driver, and the size of its memory. */
struct level_zero_text {
    char *chars;
    size_t size;
};
/* Reads the text of the native log, which may be NULL, and always destroys the log. The caller must call
 * level_zero_text_fini, even after a failure. */
ingot_status_t level_zero_take_log_text(const struct level_zero_state *state, ze_module_build_log_handle_t log,
                                        struct level_zero_text *text);
void level_zero_text_fini(const struct level_zero_state *state, struct level_zero_text *text);

#endif

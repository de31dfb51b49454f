/*
 * backend.h - the Level Zero backend's state, tables and functions, grouped by file.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_BACKEND_H
#define INGOT_BACKENDS_LEVEL_ZERO_BACKEND_H

#include <ingot/level_zero.h>
#include <ingot/private/backend.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- context.c: the state of an Ingot context for Level Zero.
 *
 * level_zero_state_create and level_zero_state_learn write everything here once. Afterwards it is only read, so it
 * needs no lock. The native handles belong to the application, which keeps them alive: Level Zero does not count
 * references. */

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

/* ---- errors.c: converts Level Zero's result codes to Ingot's statuses and error messages. ---- */

/* Returns a name such as "ZE_RESULT_ERROR_DEVICE_LOST", or "unknown result" for an unknown code. Never NULL. */
const char *level_zero_result_name(ze_result_t result);

/* Returns INGOT_OUT_OF_MEMORY if the driver ran out of memory, otherwise `otherwise`. Sets an error detail with
 * the call and the result's name and number. */
ingot_status_t level_zero_fail(ingot_status_t otherwise, const char *call, ze_result_t result);

/* ---- operations ----
 *
 * The core compares the build operations of such tables (ops->build) to distinguish this backend's objects from those
 * of other backends. */

/* context.c */
extern const ingot_backend_ops_t level_zero_ops;

/* identity.c */
ingot_status_t level_zero_identify_device(void *state, uint32_t device_index, ingot_identity_t *identity);

/* build.c */
ingot_status_t level_zero_build(void *state, const ingot_build_request_t *request, size_t device_count,
                                const uint32_t *device_indices, ingot_sink_t *log, void **program);
/* Joins the compile options, the link options and `more` with spaces. */
ingot_status_t level_zero_build_flags(const struct level_zero_state *state, const char *compile_options,
                                      const char *link_options, const char *more, struct level_zero_text *flags);
/* Links a device's modules dynamically, so that they import from each other. `log` may be NULL. */
ingot_status_t level_zero_link_modules(const struct level_zero_state *state, size_t count, ze_module_handle_t *modules,
                                       ingot_sink_t *log);

/* program.c */
void level_zero_destroy_program(void *state, void *program);
ingot_status_t level_zero_get_kernel_names(void *state, void *program, ingot_sink_t *names);
size_t level_zero_get_program_size(void *state, void *program);

/* Transfers the module of the only device to the caller, who destroys it. The program can only be destroyed afterwards.
 */
ze_module_handle_t level_zero_take_module(void *program);

/* binary.c */
ingot_status_t level_zero_get_binary(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
ingot_status_t level_zero_load(void *state, const ingot_build_request_t *request, size_t device_count,
                               const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);

/* program.c */
ingot_status_t level_zero_create_kernel(void *state, void *program, uint32_t device_index, const char *name,
                                        void **kernel);
void level_zero_destroy_kernel(void *state, void *kernel);

#endif

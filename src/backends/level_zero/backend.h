/*
 * backend.h - declares the Level Zero backend's table of operations, its operations, and its shared functions,
 * grouped by file.
 *
 * The core compares the build operations of such tables (ops->build) to distinguish this backend's objects from those
 * of other backends.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_BACKEND_H
#define INGOT_BACKENDS_LEVEL_ZERO_BACKEND_H

#include <ingot/level_zero.h>
#include <ingot/private/backend.h>

struct level_zero_state;
struct level_zero_text;

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

/* kernel.c */
ingot_status_t level_zero_create_kernel(void *state, void *program, uint32_t device_index, const char *name,
                                        void **kernel);
void level_zero_destroy_kernel(void *state, void *kernel);

#endif

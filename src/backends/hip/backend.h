/*
 * backend.h - declares the HIP backend's table of operations, and the operations, grouped by file.
 *
 * The core compares the build operations of such tables (ops->build) to distinguish this backend's objects from those
 * of other backends.
 */
#ifndef INGOT_BACKENDS_HIP_BACKEND_H
#define INGOT_BACKENDS_HIP_BACKEND_H

#include <ingot/backend.h>
#include <ingot/hip.h>

#include "backends/rtc/vendor.h"

/* context.c */
extern const ingot_backend_ops_t hip_ops;
extern const struct rtc_vendor hip_vendor;

/* identity.c */
ingot_status_t hip_identify_device(void *state, uint32_t device_index, ingot_identity_t *identity);

/* text_rules.c */
void hip_get_text_rules(void *state, ingot_text_rules_t *rules);

/* build.c */
ingot_status_t hip_compile_for(const struct rtc_state *state, uint32_t device_index,
                               const ingot_build_request_t *request, ingot_sink_t *log, struct rtc_bytes *image);
ingot_status_t hip_build(void *state, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, ingot_sink_t *log, void **program);

/* program.c */
ingot_status_t hip_load_module(const struct rtc_state *state, uint32_t device_index, const void *code,
                               ingot_status_t refused, void **module);
void hip_unload_module(const struct rtc_state *state, uint32_t device_index, void *module);

/* kernel.c */
ingot_status_t hip_find_kernel(const struct rtc_state *state, uint32_t device_index, void *module, const char *name,
                               void **kernel);

#endif

/*
 * backend.h - the CUDA backend's tables and functions, grouped by file.
 */
#ifndef INGOT_BACKENDS_CUDA_BACKEND_H
#define INGOT_BACKENDS_CUDA_BACKEND_H

#include <ingot/cuda.h>
#include <ingot/private/backend.h>

#include "backends/rtc/vendor.h"

struct cuda_state {
    struct rtc_state common; /* first */
    int version;             /* of the driver: 1000 * major + 10 * minor */
    CUresult (*get_error_name)(CUresult, const char **);
    CUresult (*get_version)(int *);
    CUresult (*get_current)(CUcontext *);
    CUresult (*push_context)(CUcontext);
    CUresult (*pop_context)(CUcontext *);
    CUresult (*get_device)(CUdevice *);
    CUresult (*get_device_name)(char *, int, CUdevice);
    CUresult (*get_device_attribute)(int *, CUdevice_attribute, CUdevice);
};

/* context.c */
extern const ingot_backend_ops_t cuda_ops;
extern const struct rtc_vendor cuda_vendor; /* its natives are an array of CUcontext */

/* driver.c */
ingot_status_t cuda_init(struct rtc_state *state, const void *contexts);
const char *cuda_error_name(const struct rtc_state *state, int result);
ingot_status_t cuda_enter(const struct rtc_state *state, const struct rtc_device *device, int *pushed);
void cuda_leave(const struct rtc_state *state, const struct rtc_device *device, int pushed);

/* identity.c */
ingot_status_t cuda_identify_device(void *state, uint32_t device_index, ingot_identity_t *identity);

/* text_rules.c */
void cuda_get_text_rules(void *state, ingot_text_rules_t *rules);

#endif

/*
 * backend.h - the HIP backend's tables and functions, grouped by file.
 *
 * The backend declares what it uses of HIP itself, so it is built without HIP's headers. Results are hipError_t.
 */
#ifndef INGOT_BACKENDS_HIP_BACKEND_H
#define INGOT_BACKENDS_HIP_BACKEND_H

#include <ingot/hip.h>
#include <ingot/private/backend.h>

#include "backends/rtc/vendor.h"

struct hip_state {
    struct rtc_state common; /* first */
    const char *(*get_error_name)(int);
    int (*get_device)(int *);
    int (*set_device)(int);
    int (*get_properties)(void *, int);
};

/* The devices of a context: numbers, or one architecture, whose device need not exist. */
struct hip_natives {
    const int *numbers;
    const char *architecture; /* NULL: numbers */
};

/* context.c */
extern const ingot_backend_ops_t hip_ops;
extern const struct rtc_vendor hip_vendor; /* its natives are struct hip_natives */

/* driver.c */
ingot_status_t hip_init(struct rtc_state *state, const void *natives);
const char *hip_error_name(const struct rtc_state *state, int result);
ingot_status_t hip_enter(const struct rtc_state *state, const struct rtc_device *device, int *previous);
void hip_leave(const struct rtc_state *state, const struct rtc_device *device, int previous);

/* identity.c */
ingot_status_t hip_identify_device(void *state, uint32_t device_index, ingot_identity_t *identity);

/* text_rules.c */
void hip_get_text_rules(void *state, ingot_text_rules_t *rules);

#endif

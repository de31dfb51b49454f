/*
 * errors.h - converts Level Zero's result codes to Ingot's statuses and error messages.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_ERRORS_H
#define INGOT_BACKENDS_LEVEL_ZERO_ERRORS_H

#include <ingot/level_zero.h>
#include <ingot/private/backend.h>

/* Returns a name such as "ZE_RESULT_ERROR_DEVICE_LOST", or "unknown result" for an unknown code. Never NULL. */
const char *level_zero_result_name(ze_result_t result);

/* Returns INGOT_OUT_OF_MEMORY if the driver ran out of memory, otherwise `otherwise`. Sets an error detail with
 * the call and the result's name and number. */
ingot_status_t level_zero_fail(ingot_status_t otherwise, const char *call, ze_result_t result);

#endif

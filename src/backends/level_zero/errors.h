/*
 * errors.h - Level Zero's result codes in Ingot's words.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_ERRORS_H
#define INGOT_BACKENDS_LEVEL_ZERO_ERRORS_H

#include <ingot/backend.h>
#include <ingot/level_zero.h>

#include <stdbool.h>

/* "ZE_RESULT_ERROR_DEVICE_LOST"; "unknown result" for a code that this library does not know. Never NULL. */
const char *level_zero_result_name(ze_result_t result);

/* Whether the driver lacked memory, of host or device. */
bool level_zero_is_out_of_memory(ze_result_t result);

/* INGOT_OUT_OF_MEMORY where the driver lacked memory, else `otherwise`; the detail names call, result and number. */
ingot_status_t level_zero_fail(ingot_status_t otherwise, const char *call, ze_result_t result);

#endif

/*
 * layer.h - the driver behind the layer.
 */
#ifndef INGOT_LAYERS_LEVEL_ZERO_LAYER_H
#define INGOT_LAYERS_LEVEL_ZERO_LAYER_H

#include <level_zero/ze_api.h>

/* driver.c: fills one of the driver's tables, which the function `name` of the driver does. Returns
 * ZE_RESULT_ERROR_UNINITIALIZED if there is no driver, and ZE_RESULT_ERROR_UNSUPPORTED_FEATURE if the driver does not
 * have the table. */
ze_result_t driver_fill_table(const char *name, ze_api_version_t version, void *table);

#endif

/*
 * level_zero.h - the Level Zero loader, which is opened at run time, for the front door.
 */
#ifndef INGOT_CACHE_LOADER_LEVEL_ZERO_H
#define INGOT_CACHE_LOADER_LEVEL_ZERO_H

#include <level_zero/ze_api.h>

/* Makes the calling thread keep the build log that the backend destroys last, in *log, which must be NULL at first. The
 * caller then owns the log. NULL: the thread keeps none any more. Returns
 * the previous place, which a request by an event callback restores. */
ze_module_build_log_handle_t *loader_level_zero_keep_log(ze_module_build_log_handle_t *log);

/* Names the library to open instead of the loader, for the Level Zero layer. Called before any other function. */
void loader_level_zero_use(const char *library);

/* Returns the driver that lists the device or a device that it is a part of. Returns NULL if there is none. */
ze_driver_handle_t loader_level_zero_driver_of(ze_device_handle_t device);

#endif

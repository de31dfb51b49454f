/*
 * build_log.h - build logs of the layer's own, for modules that it refuses to compile.
 */
#ifndef INGOT_LAYERS_LEVEL_ZERO_BUILD_LOG_H
#define INGOT_LAYERS_LEVEL_ZERO_BUILD_LOG_H

#include <level_zero/ze_api.h>

/* Returns a log with a copy of the text, or NULL if memory runs out. The application destroys it as it does a log of
 * the driver. */
ze_module_build_log_handle_t build_log_create(const char *text);

#endif

/*
 * link.h - builds programs that applications made with clLinkProgram: repeats the application's calls while the OpenCL
 * layer is loaded, so that the layer stores the results.
 */
#ifndef INGOT_CLI_BUILD_LINK_H
#define INGOT_CLI_BUILD_LINK_H

#include "cli/base/options.h"
#include "cli/build/device/device.h"
#include "cli/build/message.h"
#include "cli/build/plan.h"

/* Makes the OpenCL loader load the layer with this store. Must be called before the first OpenCL call of the
 * process. Returns false if out of memory. */
bool link_prepare(const char *layer, const struct common_options *options);

/* Builds a linked program. Fills in the outcome and the text of the result. */
void link_build(const struct plan_program *program, const struct device *device, struct message *result);

#endif

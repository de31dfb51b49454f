/*
 * image.h - pushes a store to an OCI registry as an image, and pulls it.
 */
#ifndef INGOT_CLI_COMMANDS_REMOTE_IMAGE_H
#define INGOT_CLI_COMMANDS_REMOTE_IMAGE_H

#include <stdbool.h>

#include "cli/base/options.h"

/* True if the URL, or that of the environment if it is NULL, is that of an image. */
bool image_is_named(const char *url);
/* Pushes the store to the image, or pulls it. Prints what it did, or a message, and returns an exit_code. */
int image_move(struct common_options *options, const char *url, bool is_plain, bool is_push);

#endif

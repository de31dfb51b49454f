/*
 * image.h - pushes a store to a registry as an image, and pulls it.
 */
#ifndef INGOT_CLI_COMMANDS_REMOTE_IMAGE_H
#define INGOT_CLI_COMMANDS_REMOTE_IMAGE_H

#include <stdbool.h>

#include "cli/base/base.h"

enum { IMAGE_PATH_SIZE = 4096 };

/* The options of a command that moves an image. */
struct image_options {
    const char *reference; /* of the image in a registry; NULL: none */
    const char *layout;    /* the directory with the OCI image layout; NULL: beside the store */
    bool is_plain;         /* the registry does not encrypt */
};

/* Pushes the store to the image. Prints what it did, or a message, and returns an exit_code. */
int image_push(const struct common_options *options, const struct image_options *image);
/* Lets skopeo fetch the image, if it is in a registry, and writes the path of its layout. Returns an exit_code. */
int image_fetch(const struct common_options *options, const struct image_options *image, char layout[IMAGE_PATH_SIZE]);

#endif

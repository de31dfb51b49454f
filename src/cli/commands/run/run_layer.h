/*
 * run_layer.h - finds the OpenCL layer's library, starting from the directory of the tool.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_LAYER_H
#define INGOT_CLI_COMMANDS_RUN_RUN_LAYER_H

/* Returns the absolute path of the layer, which the caller frees. On failure, prints a message and returns NULL. */
char *run_layer_find(void);

/* Returns a path that does not depend on the working directory; the caller frees it. */
char *run_layer_absolute(const char *path);

#endif

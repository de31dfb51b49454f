/*
 * run_layer.h - finds the libraries of the layers, starting from the directory of the tool.
 */
#ifndef INGOT_CLI_COMMANDS_RUN_RUN_LAYER_H
#define INGOT_CLI_COMMANDS_RUN_RUN_LAYER_H

/* Returns the absolute path of the layer, which the caller frees. On failure, prints a message and returns NULL. */
char *run_layer_find(void);

/* The Level Zero loader's list of drivers, separated by commas. */
#define RUN_LAYER_DRIVERS "ZE_ENABLE_ALT_DRIVERS"

/* Returns the absolute path of the Level Zero layer, which the caller frees, or NULL if it is not installed. */
char *run_layer_find_level_zero(void);

/* Returns a path that does not depend on the working directory; the caller frees it. */
char *run_layer_absolute(const char *path);

#endif

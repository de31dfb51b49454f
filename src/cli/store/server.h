/*
 * server.h - opens the server that the options or the environment name.
 */
#ifndef INGOT_CLI_STORE_SERVER_H
#define INGOT_CLI_STORE_SERVER_H

#include <ingot/remote.h>

#include "cli/base/options.h"

/* Makes the settings of a server, which are read from the environment when it is opened. If `url` is NULL, uses the
 * environment's URL. The namespace on the server is the environment's, whatever part of the store --namespace names,
 * because applications and layers look there. Returns EXIT_DONE; on failure, prints a message and returns another
 * exit_code. */
int server_make_info(ingot_remote_info_t *info, const char *url);
/* Opens the server with long time limits, because no application is waiting. Later failures of the server are reported
 * on standard error. Returns EXIT_DONE; on failure, prints a message and returns another exit_code. */
int server_open(ingot_storage_t *server, const struct common_options *options, const char *url, uint32_t flags);

#endif

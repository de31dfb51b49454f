/*
 * server.h - opens the server for the commands that use one.
 */
#ifndef INGOT_CLI_COMMANDS_REMOTE_SERVER_H
#define INGOT_CLI_COMMANDS_REMOTE_SERVER_H

#include <ingot/remote.h>
#include <stdbool.h>

#include "cli/base/options.h"

enum { SERVER_TEXT_CAPACITY = 4096 };

/* True unless the environment names no server. */
bool server_is_named(void);
/* Reads the environment and the options. If the URL is NULL, uses the environment's. text holds the info's texts.
 * Returns EXIT_DONE, or EXIT_USAGE after a message. */
int server_read_info(ingot_remote_info_t *info, const struct common_options *options, const char *url,
                     char text[SERVER_TEXT_CAPACITY]);
/* Opens the server with long time limits, because no application is waiting. Its failures are reported on standard
 * error. Returns EXIT_DONE, or another exit_code after a message. */
int server_open(ingot_storage_t *server, const struct common_options *options, const char *url, uint32_t flags);

#endif

/*
 * build.h - what other commands do in worker processes: loading what requests need from a server, and looking for what
 * this machine's drivers can load.
 */
#ifndef INGOT_CLI_BUILD_BUILD_H
#define INGOT_CLI_BUILD_BUILD_H

#include "cli/base/options.h"
#include "cli/usage/command.h"

/* Loads what the requests of these stores need on this machine from the server that the environment names, and compiles
 * nothing. Prints a summary. Returns an exit_code. */
int build_pull(const struct common_options *options, const struct text_list *requests);

/* Shows what of a store, a bundle or an OCI image layout this machine's drivers can load, and what not, by reason.
 * path: NULL for the store of the options. Returns an exit_code. */
int machine_verify(const struct common_options *options, const char *path);

#endif

/*
 * build.h - loads what requests need from a server, in the worker processes of `ingot build`.
 */
#ifndef INGOT_CLI_BUILD_BUILD_H
#define INGOT_CLI_BUILD_BUILD_H

#include "cli/base/options.h"
#include "cli/usage/command.h"

/* Loads what the requests of these stores need on this machine from the server that the environment names, and compiles
 * nothing. Prints a summary. Returns an exit_code. */
int build_pull(const struct common_options *options, const struct text_list *requests);

#endif

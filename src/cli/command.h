/*
 * command.h - declares the tool's commands, each of which has its own file. The C library's argp parses the arguments.
 * Its parser and its help use the same table, so they always agree.
 */
#ifndef INGOT_CLI_COMMAND_H
#define INGOT_CLI_COMMAND_H

/* argv[0] is "ingot COMMAND". Returns an exit_code. */
struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

extern const struct command command_ls;
extern const struct command command_show;
extern const struct command command_explain;
extern const struct command command_verify;
extern const struct command command_stats;
extern const struct command command_evict;
extern const struct command command_extract;
extern const struct command command_clear;
extern const struct command command_recount;
extern const struct command command_bundle;
extern const struct command command_manifest;
extern const struct command command_run;
extern const struct command command_recipe;
extern const struct command command_build;
extern const struct command command_key;
extern const struct command command_sign;
extern const struct command command_remote; /* this and the next three exist only if remote is built */
extern const struct command command_push;
extern const struct command command_pull;
extern const struct command command_warm;

#endif

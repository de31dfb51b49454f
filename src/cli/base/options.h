/*
 * options.h - the values of the options that all commands have, which usage/command.c describes, and the tool's exit
 * statuses, which ingot(1) documents.
 */
#ifndef INGOT_CLI_BASE_OPTIONS_H
#define INGOT_CLI_BASE_OPTIONS_H

#include <ingot/trust.h>
#include <stdbool.h>

enum exit_code {
    EXIT_DONE = 0,
    /* The command worked, but the answer is negative: bad entries, no such entry, a miss. */
    EXIT_FINDING = 1,
    EXIT_USAGE = 2,    /* Invalid options, arguments or environment. */
    EXIT_NO_STORE = 3, /* There is no store, or it cannot be opened. */
    EXIT_FAILED = 4,   /* Something failed during the work. */
    /* Only from `ingot run`: the command was not started. Otherwise the command's status is returned. */
    EXIT_RUN_FAILED = 125,
    EXIT_INTERRUPTED = 130 /* The status that a shell reports for SIGINT. */
};

/* In the struct of each command's own values, this is the first member. */
struct common_options {
    const char *directory; /* NULL: from the environment */
    const char *name_space;
    bool is_json;
    ingot_persist_trust_policy_t trust_policy; /* the weakest policy: INGOT_PERSIST_TRUST may name a stricter one */
    bool ignores_trust_variable;               /* ignores INGOT_PERSIST_TRUST */
    const char *key_files;                     /* NULL: those of INGOT_PERSIST_KEYS */
    bool keeps_requests;                       /* keeps the requests of what is built beside it */
};

#endif

/*
 * options.h - the values of the options that all commands have; usage/command.c describes the options.
 */
#ifndef INGOT_CLI_BASE_OPTIONS_H
#define INGOT_CLI_BASE_OPTIONS_H

#include <ingot/trust.h>
#include <stdbool.h>

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

/*
 * options.h - the options that all commands have.
 */
#ifndef INGOT_CLI_BASE_OPTIONS_H
#define INGOT_CLI_BASE_OPTIONS_H

#include <argp.h>
#include <ingot/trust.h>
#include <stdbool.h>

/* The options that all commands have. In the struct of each command's own options, this is the first member. */
struct common_options {
    const char *directory; /* NULL: from the environment */
    const char *name_space;
    bool is_json;
    ingot_persist_trust_policy_t trust_policy; /* the weakest policy: INGOT_PERSIST_TRUST may name a stricter one */
    bool ignores_trust_variable;               /* ignores INGOT_PERSIST_TRUST */
    const char *key_files;                     /* NULL: those of INGOT_PERSIST_KEYS */
    bool keeps_recipes;                        /* keeps recipes of what is built; false: the environment decides */
};

/* The common options, for struct argp. Their parser expects a struct common_options as input. */
extern const struct argp_child options_common[];

/* Uses INGOT_PERSIST_NAMESPACE if there is no --namespace. For commands that store programs, because applications look
 * for them in that namespace. All other commands use all namespaces then. */
void options_take_namespace(struct common_options *options);
/* Handles a key that a command's own parser does not know. */
error_t options_parse_other(int key, struct argp_state *state);
/* The parser of a command without its own options. */
error_t options_parse_none(int key, char *value, struct argp_state *state);

#endif

/*
 * options.c - the options that every command has; see options.h.
 */
#include "cli/base/options.h"

#include <stdlib.h>

static const struct argp_option common_options[] = {
    {"dir", 'd', "DIR", 0, "The store. Default: from the environment, INGOT_PERSIST_DIR first", 0},
    {"namespace", 'n', "NAME", 0, "Use only entries of this namespace", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t parse_common(int key, char *value, struct argp_state *state)
{
    struct common_options *options = state->input;
    switch (key) {
    case 'd': options->directory = value; return 0;
    case 'n': options->name_space = value; return 0;
    case 'j': options->is_json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp common = {common_options, parse_common, NULL, NULL, NULL, NULL, NULL};
const struct argp_child options_common[] = {{&common, 0, "Common options:", 1}, {NULL, 0, NULL, 0}};

void options_take_namespace(struct common_options *options)
{
    const char *name_space = getenv("INGOT_PERSIST_NAMESPACE");
    if (options->name_space == NULL && name_space != NULL && name_space[0] != '\0')
        options->name_space = name_space;
}

error_t options_parse_other(int key, struct argp_state *state)
{
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

error_t options_parse_none(int key, char *value, struct argp_state *state)
{
    (void)value;
    return options_parse_other(key, state);
}

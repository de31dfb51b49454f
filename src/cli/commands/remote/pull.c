/*
 * pull.c - `ingot pull`: loads into a store what the programs of recipes need on this machine.
 */
#include "cli/base/exit_code.h"
#include "cli/base/options.h"
#include "cli/commands/all.h"
#include "cli/commands/recipe/build.h"
#include "cli/commands/remote/server.h"
#include "cli/usage/parse.h"

struct pulling {
    struct common_options common;
    const char *url; /* NULL: from the environment */
    struct text_list recipes;
};

static const struct command_option pull_options[] = {
    {"for", 'f', VALUE_FILE, "RECIPE", offsetof(struct pulling, recipes), .flags = OPTION_REPEATED,
     .help = "Load what the programs of this recipe need on the devices of this machine; may be repeated"},
    {NULL, 0, VALUE_TEXT, "URL", offsetof(struct pulling, url), .help = "The server. Default: INGOT_PERSIST_REMOTE"},
    {.help = NULL},
};

static int run_pull(void *values)
{
    struct pulling *pulling = values;
    ingot_storage_t server = NULL;
    if (pulling->recipes.count == 0)
        return parse_refuse(&command_pull, "name a recipe: --for RECIPE");
    const int code = server_open(&server, &pulling->common, pulling->url, INGOT_REMOTE_READ_ONLY);
    ingot_storage_release(server); /* the workers open it as the environment says, which now has this URL */
    return code == EXIT_DONE ? build_pull(&pulling->common, &pulling->recipes) : code;
}

const struct command command_pull = {
    .name = "pull",
    .group = "Share",
    .summary = "load entries from a server into a store",
    .about = "With --for, loads what the programs of a recipe need on the devices of this machine from a server into a "
             "store, which is created if it is missing, and compiles nothing. Programs that the store already has are "
             "not loaded again.\n\n"
             "The exit status is 1 if the server lacks programs, or did not work.",
    .options = pull_options,
    .size = sizeof(struct pulling),
    .run = run_pull,
};

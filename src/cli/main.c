/*
 * main.c - `ingot`: inspects and maintains a directory store.
 */
#include <argp.h>
#include <ingot/ingot.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/command.h"

static const struct command *const commands[] = {
    &command_ls,     &command_show,    &command_explain, &command_verify,   &command_stats, &command_evict,
    &command_clear,  &command_recount, &command_bundle,  &command_manifest, &command_key,   &command_sign,
    &command_run,    &command_recipe,  &command_build,   &command_extract,
#if INGOT_WITH_REMOTE
    &command_remote, &command_push,    &command_pull,    &command_warm,
#endif
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]), FULL_NAME_SIZE = 32 };

static void print_help(FILE *file)
{
    (void)fputs(
        "Usage: ingot COMMAND [OPTION...]\n"
        "Inspects and maintains a store of compiled device programs and artifacts, and runs commands with it.\n\n",
        file);
    for (size_t i = 0; i < COMMAND_COUNT; ++i)
        (void)fprintf(file, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    (void)fputs("\n\"ingot COMMAND --help\" shows a command's options. --version shows the library's version.\n"
                "The store is --dir, otherwise INGOT_PERSIST_DIR, otherwise $XDG_CACHE_HOME/ingot or ~/.cache/ingot.\n"
                "\n"
                "Exit status: 0 done; 1 the answer is negative (bad entries, no such entry, a miss, a wrong total);\n"
                "2 wrong usage; 3 no store; 4 failed; 130 interrupted. \"ingot run\" returns the command's.\n",
                file);
}

static int run(const struct command *command, int argc, char **argv)
{
    char full_name[FULL_NAME_SIZE]; /* shown in usage and errors */
    (void)snprintf(full_name, sizeof(full_name), "ingot %s", command->name);
    argv[0] = full_name;
    json_init();
    const int code = command->run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fputs("ingot: writing the output failed\n", stderr);
        return EXIT_FAILED;
    }
    return code;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    argp_err_exit_status = EXIT_USAGE;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-?") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("ingot %s\n", ingot_version());
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        if (strcmp(name, commands[i]->name) == 0)
            return run(commands[i], argc - 1, argv + 1);
    }
    if (name[0] != '\0')
        (void)fprintf(stderr, "ingot: \"%s\" is not a command\n", name);
    print_help(stderr);
    return EXIT_USAGE;
}

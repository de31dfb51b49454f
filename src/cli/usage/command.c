/*
 * command.c - finds commands and options in the table; see command.h.
 */
#include "cli/usage/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/options.h"
#include "cli/usage/nearest.h"

/* Every command has these, and bare ones have only the last. */
static const struct command_option common[] = {
    {"dir", 'd', VALUE_FOLDER, "DIR", offsetof(struct common_options, directory),
     .help = "The store. Default: INGOT_PERSIST_DIR, or $XDG_CACHE_HOME/ingot, or ~/.cache/ingot"},
    {"namespace", 'n', VALUE_TEXT, "NAME", offsetof(struct common_options, name_space),
     .help = "Use only entries of this namespace. Default: INGOT_PERSIST_NAMESPACE for commands that store programs, "
             "and all namespaces for the others"},
    {"json", 'j', VALUE_NONE, NULL, offsetof(struct common_options, is_json),
     .help = "Print one JSON value, with sizes in bytes and times in UTC"},
    {"help", 'h', VALUE_NONE, NULL, SIZE_MAX, .help = "Show this help"},
};

enum { COMMON_COUNT = sizeof(common) / sizeof(common[0]), FIRST_OF_BARE = 3 };

bool command_is_group(const char *text)
{
    for (size_t i = 0; commands_all[i] != NULL; ++i) {
        if (command_is_of_group(commands_all[i], text))
            return true;
    }
    return false;
}

bool command_is_of_group(const struct command *command, const char *group)
{
    const size_t length = strlen(group);
    return strncmp(command->name, group, length) == 0 && command->name[length] == ' ';
}

const struct command *command_find(int count, char *const *arguments, int *word_count)
{
    for (size_t i = 0; count > 0 && commands_all[i] != NULL; ++i) {
        const struct command *command = commands_all[i];
        *word_count = strchr(command->name, ' ') != NULL ? 2 : 1;
        if (*word_count == 1 && strcmp(command->name, arguments[0]) == 0)
            return command;
        if (*word_count == 2 && count > 1 && command_is_of_group(command, arguments[0]) &&
            strcmp(command->name + strlen(arguments[0]) + 1, arguments[1]) == 0)
            return command;
    }
    return NULL;
}

static void tell_actions(const char *group)
{
    const char *separator = ": use ";
    for (size_t i = 0; commands_all[i] != NULL; ++i) {
        if (!command_is_of_group(commands_all[i], group))
            continue;
        (void)fprintf(stderr, "%s%s", separator, commands_all[i]->name);
        separator = ", ";
    }
    (void)fputc('\n', stderr);
}

int command_tell_unknown(int count, char *const *arguments)
{
    struct nearest nearest;
    if (count == 0) {
        (void)fputs("ingot: name a command; \"ingot help\" lists them\n", stderr);
    } else if (command_is_group(arguments[0])) {
        if (count > 1)
            (void)fprintf(stderr, "ingot: \"%s\" is not a %s command", arguments[1], arguments[0]);
        else
            (void)fprintf(stderr, "ingot: name a %s command", arguments[0]);
        tell_actions(arguments[0]);
    } else {
        nearest_init(&nearest, strlen(arguments[0]), arguments[0]);
        for (size_t i = 0; commands_all[i] != NULL; ++i)
            nearest_add(&nearest, commands_all[i]->name);
        (void)fprintf(stderr, "ingot: \"%s\" is not a command", arguments[0]);
        if (nearest.found != NULL)
            (void)fprintf(stderr, ": the nearest is \"ingot %s\"\n", nearest.found);
        else
            (void)fputs("; \"ingot help\" lists the commands\n", stderr);
    }
    return EXIT_USAGE;
}

bool command_is_common(const struct command_option *option)
{
    return option >= common && option < common + COMMON_COUNT;
}

const struct command_option *command_get_option(const struct command *command, size_t index)
{
    size_t at = command->is_bare ? FIRST_OF_BARE : 0;
    for (const struct command_option *option = command->options; option != NULL && option->help != NULL; ++option) {
        if (option->name != NULL && index-- == 0)
            return option;
    }
    return index < COMMON_COUNT - at ? &common[at + index] : NULL;
}

const struct command_option *command_get_operand(const struct command *command, size_t position)
{
    for (const struct command_option *option = command->options; option != NULL && option->help != NULL; ++option) {
        if (option->name == NULL && (position-- == 0 || (option->flags & OPTION_REPEATED) != 0))
            return option;
    }
    return NULL;
}

const struct command_option *command_find_option(const struct command *command, size_t size, const char *name)
{
    const struct command_option *found = NULL;
    const struct command_option *option;
    size_t match_count = 0;
    for (size_t i = 0; (option = command_get_option(command, i)) != NULL; ++i) {
        if (strncmp(option->name, name, size) != 0)
            continue;
        if (option->name[size] == '\0')
            return option;
        found = option;
        ++match_count;
    }
    return match_count == 1 ? found : NULL;
}

const struct command_option *command_find_letter(const struct command *command, char letter)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_get_option(command, i)) != NULL; ++i) {
        if (option->letter == letter && letter != '\0')
            return option;
    }
    return NULL;
}

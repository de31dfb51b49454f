/*
 * command.c - finds commands and options in the table; see command.h.
 */
#include "cli/usage/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/options.h"

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
enum { MOST_CHARACTERS = 32 }; /* no command or option is longer */

const struct command *command_find(const char *name)
{
    for (size_t i = 0; name != NULL && commands_all[i] != NULL; ++i)
        if (strcmp(commands_all[i]->name, name) == 0)
            return commands_all[i];
    return NULL;
}

int command_tell_unknown(const char *name)
{
    struct nearest nearest;
    if (name == NULL) {
        (void)fputs("ingot: name a command; \"ingot help\" lists them\n", stderr);
        return EXIT_USAGE;
    }
    nearest_init(&nearest, strlen(name), name);
    for (size_t i = 0; commands_all[i] != NULL; ++i)
        nearest_add(&nearest, commands_all[i]->name);
    if (nearest.found != NULL)
        (void)fprintf(stderr, "ingot: \"%s\" is not a command: the nearest is \"ingot %s\"\n", name, nearest.found);
    else
        (void)fprintf(stderr, "ingot: \"%s\" is not a command; \"ingot help\" lists the commands\n", name);
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

const struct command_option *command_find_letter(const struct command *command, char letter)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_get_option(command, i)) != NULL; ++i) {
        if (option->letter == letter && letter != '\0')
            return option;
    }
    return NULL;
}

static size_t get_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many characters of `a` must be inserted, removed, replaced or exchanged with the next one to get `b`. */
static size_t count_edits(size_t a_size, const char *a, size_t b_size, const char *b)
{
    size_t rows[MOST_CHARACTERS + 1][MOST_CHARACTERS + 1];
    for (size_t i = 0; i <= a_size; ++i) {
        for (size_t j = 0; j <= b_size; ++j) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            rows[i][j] = get_smaller(replaced, 1 + get_smaller(rows[i - 1][j], rows[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = get_smaller(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a_size][b_size];
}

void nearest_init(struct nearest *nearest, size_t size, const char *text)
{
    /* At most a third of the characters may be wrong, or one of a short word. */
    *nearest = (struct nearest){text, size, NULL, size < 6 ? 2 : size / 3 + 1};
}

void nearest_add(struct nearest *nearest, const char *word)
{
    const size_t size = strlen(word);
    if (size > MOST_CHARACTERS || nearest->size > MOST_CHARACTERS)
        return;
    const size_t found = count_edits(nearest->size, nearest->text, size, word);
    if (found >= nearest->distance)
        return;
    nearest->found = word;
    nearest->distance = found;
}

/*
 * parse.c - reads arguments as the GNU tools do: options and operands in any order, long options as --name=VALUE or
 * --name VALUE or abbreviated, letters alone or together, and "--" before operands that begin with "-".
 */
#include "cli/usage/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/memory.h"
#include "cli/usage/nearest.h"
#include "cli/usage/value.h"

struct parsing {
    const struct command *command;
    char *values; /* the command's struct */
    int count;
    char **arguments;
    int at; /* the next argument */
    size_t operand_count;
    bool is_rest; /* true after "--": what follows are operands */
    enum parse_outcome outcome;
};

static void print_complaint(const char *command, const char *format, va_list values)
{
    (void)fprintf(stderr, "ingot %s: ", command);
    (void)vfprintf(stderr, format, values);
    (void)fputc('\n', stderr);
}

int parse_refuse(const struct command *command, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_complaint(command->name, format, values);
    va_end(values);
    return EXIT_USAGE;
}

static void refuse_arguments(struct parsing *parsing, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void refuse_arguments(struct parsing *parsing, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_complaint(parsing->command->name, format, values);
    va_end(values);
    parsing->outcome = PARSE_WRONG;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void add_to_option_list(char *member, char *text)
{
    struct text_list list;
    memcpy(&list, member, sizeof(list));
    list.items = memory_grow(list.items, list.count, sizeof(*list.items));
    list.items[list.count++] = text;
    memcpy(member, &list, sizeof(list));
}

/* Writes a value to its member. `spelled` is the option as in the help, for messages. */
static void take_value(struct parsing *parsing, const struct command_option *option, char *text, const char *spelled)
{
    char *member = parsing->values + option->at;
    char expected[VALUE_EXPECTED_SIZE];
    if ((option->flags & OPTION_REPEATED) != 0) {
        add_to_option_list(member, text);
    } else if (option->kind < VALUE_WORD) {
        memcpy(member, &text, sizeof(text));
    } else if (!value_read(option, text, member)) {
        refuse_arguments(parsing, "%s: \"%s\" is not valid: use %s", spelled, text, value_expected(option, expected));
    }
}

static void take_flag(struct parsing *parsing, const struct command_option *option)
{
    const bool is_set = true;
    if (option->at != SIZE_MAX)
        memcpy(parsing->values + option->at, &is_set, sizeof(is_set));
    else
        parsing->outcome = PARSE_HELP;
}

/* Takes an option with the value that is part of its argument, or NULL if there is none. */
static void take_command_option(struct parsing *parsing, const struct command_option *option, char *value,
                                const char *spelled)
{
    static char none[] = "";
    char expected[VALUE_EXPECTED_SIZE];
    if (option->kind == VALUE_NONE && value != NULL)
        refuse_arguments(parsing, "%s does not have a value", spelled);
    else if (option->kind == VALUE_NONE)
        take_flag(parsing, option);
    else if (value != NULL || (option->flags & OPTION_VALUE_OPTIONAL) != 0)
        take_value(parsing, option, value != NULL ? value : none, spelled);
    else if (parsing->at < parsing->count)
        take_value(parsing, option, parsing->arguments[parsing->at++], spelled);
    else
        refuse_arguments(parsing, "%s needs a value: use %s", spelled, value_expected(option, expected));
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void refuse_option(struct parsing *parsing, size_t size, const char *name)
{
    const struct command_option *option;
    struct nearest nearest;
    nearest_init(&nearest, size, name);
    for (size_t i = 0; (option = command_get_option(parsing->command, i)) != NULL; ++i) {
        if ((option->flags & OPTION_HIDDEN) == 0)
            nearest_add(&nearest, option->name);
    }
    if (nearest.found != NULL)
        refuse_arguments(parsing, "--%.*s is not an option: the nearest is --%s", (int)size, name, nearest.found);
    else
        refuse_arguments(parsing, "--%.*s is not an option; \"ingot help %s\" shows the options", (int)size, name,
                         parsing->command->name);
}

static void take_long(struct parsing *parsing, char *name)
{
    enum { SPELLED_SIZE = 40 };
    char spelled[SPELLED_SIZE];
    const size_t size = strcspn(name, "=");
    const struct command_option *option = command_find_option(parsing->command, size, name);
    if (option == NULL) {
        refuse_option(parsing, size, name);
        return;
    }
    (void)snprintf(spelled, sizeof(spelled), "--%s", option->name);
    take_command_option(parsing, option, name[size] == '=' ? name + size + 1 : NULL, spelled);
}

static void take_letters(struct parsing *parsing, char *letters)
{
    for (; *letters != '\0' && parsing->outcome == PARSE_DONE; ++letters) {
        const char spelled[] = {'-', *letters, '\0'};
        const struct command_option *option = command_find_letter(parsing->command, *letters == '?' ? 'h' : *letters);
        if (option == NULL) {
            refuse_arguments(parsing, "%s is not an option; \"ingot help %s\" shows the options", spelled,
                             parsing->command->name);
        } else if (option->kind == VALUE_NONE) {
            take_flag(parsing, option);
        } else {
            take_command_option(parsing, option, letters[1] != '\0' ? letters + 1 : NULL, spelled);
            return;
        }
    }
}

static void take_operand(struct parsing *parsing, char *text)
{
    const struct command_option *operand = command_get_operand(parsing->command, parsing->operand_count);
    if (operand == NULL) {
        refuse_arguments(parsing, "\"%s\" is one argument too many", text);
        return;
    }
    ++parsing->operand_count;
    if ((operand->flags & OPTION_REST) == 0) {
        take_value(parsing, operand, text, operand->value);
        return;
    }
    char **rest = parsing->arguments + parsing->at - 1;
    memcpy(parsing->values + operand->at, &rest, sizeof(rest));
    parsing->at = parsing->count;
}

static void take_argument(struct parsing *parsing, char *text)
{
    if (parsing->is_rest || text[0] != '-' || text[1] == '\0')
        take_operand(parsing, text);
    else if (text[1] != '-')
        take_letters(parsing, text + 1);
    else if (text[2] != '\0')
        take_long(parsing, text + 2);
    else
        parsing->is_rest = true;
}

/* Refuses arguments that lack a required operand. */
static void check_operands(struct parsing *parsing)
{
    const size_t count = parsing->operand_count;
    const struct command_option *next = command_get_operand(parsing->command, count);
    if (next == NULL || (next->flags & OPTION_REQUIRED) == 0)
        return;
    if (count == 0 || command_get_operand(parsing->command, count - 1) != next)
        refuse_arguments(parsing, "the argument %s is missing; \"ingot help %s\" describes it", next->value,
                         parsing->command->name);
}

enum parse_outcome parse_arguments(const struct command *command, int count, char **arguments, void *values)
{
    struct parsing parsing = {.command = command, .values = values, .count = count, .arguments = arguments};
    while (parsing.at < count && parsing.outcome == PARSE_DONE)
        take_argument(&parsing, arguments[parsing.at++]);
    if (parsing.outcome == PARSE_DONE)
        check_operands(&parsing);
    return parsing.outcome;
}

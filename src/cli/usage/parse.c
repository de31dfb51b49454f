/*
 * parse.c - reads arguments by getopt_long, as the GNU tools do: options and operands in any order, long options
 * abbreviated, and "--" before operands that begin with "-".
 */
#include "cli/usage/parse.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/memory.h"
#include "cli/usage/value.h"

enum { MOST_OPTIONS = 32, OPERAND = 1, FIRST_LONG = 256, SPELLED_SIZE = 40 };

int parse_refuse(const struct command *command, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)fprintf(stderr, "ingot %s: ", command->name);
    (void)vfprintf(stderr, format, values);
    (void)fputc('\n', stderr);
    va_end(values);
    return EXIT_USAGE;
}

/* Writes a value to its member. Returns false if it is not valid. */
static bool take_value(const struct command *command, const struct command_option *option, char *text, char *values)
{
    char *member = values + option->at;
    char expected[VALUE_EXPECTED_SIZE];
    char spelled[SPELLED_SIZE];
    const bool is_set = true;
    static char none[] = "";
    text = text != NULL ? text : none;
    if (option->kind == VALUE_NONE) {
        memcpy(member, &is_set, sizeof(is_set));
    } else if ((option->flags & OPTION_REPEATED) != 0) {
        struct text_list list;
        memcpy(&list, member, sizeof(list));
        list.items = memory_grow(list.items, list.count, sizeof(*list.items));
        list.items[list.count++] = text;
        memcpy(member, &list, sizeof(list));
    } else if (option->kind < VALUE_WORD) {
        memcpy(member, &text, sizeof(text));
    } else if (!value_read(option, text, member)) {
        (void)snprintf(spelled, sizeof(spelled), "%s%s", option->name != NULL ? "--" : "",
                       option->name != NULL ? option->name : option->value);
        (void)parse_refuse(command, "%s: \"%s\" is not valid: use %s", spelled, text, value_expected(option, expected));
        return false;
    }
    return true;
}

/* Says what is wrong with an option that getopt_long refuses. `word` is the argument that it is in. */
static void refuse_option(const struct command *command, int found, const char *word)
{
    char expected[VALUE_EXPECTED_SIZE];
    const struct command_option *option = optopt >= FIRST_LONG
                                              ? command_get_option(command, (size_t)(optopt - FIRST_LONG))
                                              : command_find_letter(command, (char)optopt);
    struct nearest nearest;
    if (found == ':' && option != NULL) {
        (void)parse_refuse(command, "--%s needs a value: use %s", option->name, value_expected(option, expected));
    } else if (optopt >= FIRST_LONG && option != NULL) {
        (void)parse_refuse(command, "--%s does not have a value", option->name);
    } else if (optopt != 0) {
        (void)parse_refuse(command, "-%c is not an option; \"ingot help %s\" shows the options", optopt, command->name);
    } else {
        const int size = (int)strcspn(word + 2, "=");
        nearest_init(&nearest, (size_t)size, word + 2);
        for (size_t i = 0; (option = command_get_option(command, i)) != NULL; ++i)
            if ((option->flags & OPTION_HIDDEN) == 0)
                nearest_add(&nearest, option->name);
        if (nearest.found != NULL)
            (void)parse_refuse(command, "--%.*s is not an option: the nearest is --%s", size, word + 2, nearest.found);
        else
            (void)parse_refuse(command, "--%.*s is not an option; \"ingot help %s\" shows the options", size, word + 2,
                               command->name);
    }
}

/* Takes the operand at a position, and all arguments behind it if it takes them. Returns false if it is one too many.
 */
static bool take_operand(const struct command *command, size_t position, char **arguments, char *values, bool *is_rest)
{
    const struct command_option *operand = command_get_operand(command, position);
    *is_rest = operand != NULL && (operand->flags & OPTION_REST) != 0;
    if (operand == NULL)
        (void)parse_refuse(command, "\"%s\" is one argument too many", *arguments);
    else if (*is_rest)
        memcpy(values + operand->at, &arguments, sizeof(arguments));
    return operand != NULL && (*is_rest || take_value(command, operand, *arguments, values));
}

/* Describes the options for getopt_long, which returns operands in their places. */
static void list_options(const struct command *command, struct option longs[MOST_OPTIONS + 1],
                         char letters[3 * MOST_OPTIONS + 3])
{
    const struct command_option *option;
    char *at = letters + sprintf(letters, "-:");
    memset(longs, 0, (MOST_OPTIONS + 1) * sizeof(*longs));
    for (size_t i = 0; i < MOST_OPTIONS && (option = command_get_option(command, i)) != NULL; ++i) {
        const int has_value = option->kind == VALUE_NONE                     ? no_argument
                              : (option->flags & OPTION_VALUE_OPTIONAL) != 0 ? optional_argument
                                                                             : required_argument;
        longs[i] = (struct option){option->name, has_value, NULL, FIRST_LONG + (int)i};
        if (option->letter != '\0')
            at += sprintf(at, "%c%s", option->letter, &"::"[2 - has_value]);
    }
}

enum parse_outcome parse_arguments(const struct command *command, int count, char **arguments, void *values)
{
    struct option longs[MOST_OPTIONS + 1];
    char letters[3 * MOST_OPTIONS + 3];
    size_t operand_count = 0;
    bool is_rest = false;
    int found;
    char **words = arguments - 1; /* the first is the command's name, as getopt_long expects it */
    list_options(command, longs, letters);
    optind = 0; /* begins anew */
    opterr = 0;
    while (!is_rest && (found = getopt_long(count + 1, words, letters, longs, NULL)) != -1) {
        if (found == OPERAND) {
            if (!take_operand(command, operand_count++, &words[optind - 1], values, &is_rest))
                return PARSE_WRONG;
            continue;
        }
        if (found == '?' && optopt == '?')
            return PARSE_HELP;
        const struct command_option *option = found >= FIRST_LONG
                                                  ? command_get_option(command, (size_t)(found - FIRST_LONG))
                                                  : command_find_letter(command, (char)found);
        if (found == '?' || found == ':' || option == NULL) {
            refuse_option(command, found, words[optind - 1]);
            return PARSE_WRONG;
        }
        if (option->at == SIZE_MAX)
            return PARSE_HELP;
        if (!take_value(command, option, optarg, values))
            return PARSE_WRONG;
    }
    for (; !is_rest && optind <= count; ++optind)
        if (!take_operand(command, operand_count++, &words[optind], values, &is_rest))
            return PARSE_WRONG;
    const struct command_option *next = is_rest ? NULL : command_get_operand(command, operand_count);
    if (next == NULL || (next->flags & OPTION_REQUIRED) == 0 ||
        (operand_count != 0 && command_get_operand(command, operand_count - 1) == next))
        return PARSE_DONE;
    (void)parse_refuse(command, "the argument %s is missing; \"ingot help %s\" describes it", next->value,
                       command->name);
    return PARSE_WRONG;
}

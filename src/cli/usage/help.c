/*
 * help.c - prints the help, in lines of at most 79 columns; see help.h.
 */
#include "cli/usage/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/usage/value.h"

enum { LINE_WIDTH = 79, TEXT_COLUMN = 29, SUMMARY_COLUMN = 19, PART_SIZE = 96, TEXT_SIZE = 1024 };

/* Prints words in lines that begin at a column. The cursor is in column `at`; if the text would begin left of it, it
 * begins on the next line. */
static void print_wrapped(const char *text, size_t at, size_t column)
{
    if (at + 2 > column && at != 0) {
        (void)putchar('\n');
        at = 0;
    }
    (void)printf("%*s", (int)(column - at), "");
    at = column;
    while (*text != '\0') {
        const size_t size = strcspn(text, " \n");
        const bool is_first = at == column;
        if (!is_first && at + 1 + size > LINE_WIDTH) {
            (void)printf("\n%*s", (int)column, "");
            at = column;
        } else if (!is_first) {
            (void)putchar(' ');
            ++at;
        }
        (void)printf("%.*s", (int)size, text);
        at += size;
        text += size;
        if (strncmp(text, "\n\n", 2) == 0) {
            (void)printf("\n\n%*s", (int)column, "");
            at = column;
        }
        text += strspn(text, " \n");
    }
    (void)putchar('\n');
}

static void print_synopsis(const struct command *command)
{
    const struct command_option *operand;
    (void)printf("%s [OPTION...]", command->name);
    for (size_t i = 0; (operand = command_get_operand(command, i)) != NULL; ++i) {
        const bool is_repeated = (operand->flags & OPTION_REPEATED) != 0;
        (void)printf((operand->flags & OPTION_REQUIRED) != 0 ? " %s%s%s" : " %s[%s%s]",
                     (operand->flags & OPTION_REST) != 0 ? "[--] " : "", operand->value, is_repeated ? "..." : "");
        if (is_repeated)
            break;
    }
    (void)fputs("\n\n", stdout);
}

static void print_option(const struct command_option *option)
{
    char left[PART_SIZE];
    char text[TEXT_SIZE];
    char expected[VALUE_EXPECTED_SIZE];
    size_t length = 0;
    if (option->name == NULL) {
        length = (size_t)snprintf(left, sizeof(left), "  %s", option->value);
    } else {
        const bool is_optional = (option->flags & OPTION_VALUE_OPTIONAL) != 0;
        const char letter[] = {'-', option->letter, ',', '\0'};
        length = (size_t)snprintf(left, sizeof(left), "  %-3s --%s%s%s%s", option->letter != '\0' ? letter : "",
                                  option->name, is_optional ? "[" : "", option->value != NULL ? "=" : "",
                                  option->value != NULL ? option->value : "");
        if (is_optional)
            length += (size_t)snprintf(left + length, sizeof(left) - length, "]");
    }
    (void)fputs(left, stdout);
    if (option->kind >= VALUE_WORD)
        (void)snprintf(text, sizeof(text), "%s. %s is %s", option->help, option->value,
                       value_expected(option, expected));
    print_wrapped(option->kind < VALUE_WORD ? option->help : text, length, TEXT_COLUMN);
}

static void print_options(const struct command *command, bool is_common)
{
    const struct command_option *option;
    bool is_first = true;
    for (size_t i = 0; (option = command_get_option(command, i)) != NULL; ++i) {
        if ((option->flags & OPTION_HIDDEN) != 0 || command_is_common(option) != is_common)
            continue;
        if (is_first)
            (void)fputs(is_common ? "\nCommon options:\n" : "\nOptions:\n", stdout);
        print_option(option);
        is_first = false;
    }
}

/* Prints all but the options that every command has. */
static void print_command(const struct command *command)
{
    bool is_first = true;
    print_synopsis(command);
    print_wrapped(command->about, 0, 0);
    for (const struct command_option *each = command->options; each != NULL && each->help != NULL; ++each) {
        if (each->name != NULL)
            continue;
        (void)fputs(is_first ? "\nArguments:\n" : "", stdout);
        print_option(each);
        is_first = false;
    }
    print_options(command, false);
}

void help_print(const struct command *command)
{
    (void)fputs("Usage: ingot ", stdout);
    print_command(command);
    print_options(command, true);
}

/* Prints what is about a command, or about the options of all if it is NULL, in the language of man(7), as it is. */
static void print_manual_part(const struct command *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *output = stdout;
    FILE *part = open_memstream(&text, &size);
    if (part == NULL)
        return;
    stdout = part;
    if (command != NULL)
        print_command(command);
    else
        print_options(commands_all[0], true);
    stdout = output;
    (void)fclose(part);
    (void)puts(".PP\n.nf");
    for (const char *c = text; *c != '\0'; ++c) {
        if (*c == '-' || *c == '\\')
            (void)fputs(*c == '-' ? "\\-" : "\\e", stdout);
        else
            (void)printf("%s%c", (c == text || c[-1] == '\n') && (*c == '.' || *c == '\'') ? "\\&" : "", *c);
    }
    (void)puts(".fi");
    free(text);
}

void help_print_manual(void)
{
    (void)puts(".SH COMMANDS");
    for (size_t i = 0; commands_all[i] != NULL; ++i)
        print_manual_part(commands_all[i]);
    (void)puts(".SH OPTIONS\nEvery command has these options, of which\n.BR run \" and \" help\nhave only the last.");
    print_manual_part(NULL);
}

static void print_summary(const struct command *command)
{
    const int length = printf("  %s", command->name);
    print_wrapped(command->summary, (size_t)(length > 0 ? length : 0), SUMMARY_COLUMN);
}

void help_print_all(void)
{
    const char *group = "";
    (void)puts("Usage: ingot COMMAND [OPTION...]\n"
               "Inspects and maintains a store of compiled device programs and artifacts, and\n"
               "runs commands with it.");
    for (size_t i = 0; commands_all[i] != NULL; ++i) {
        if (strcmp(group, commands_all[i]->group) != 0)
            (void)printf("\n%s:\n", commands_all[i]->group);
        group = commands_all[i]->group;
        print_summary(commands_all[i]);
    }
    (void)puts("\n\"ingot help COMMAND\" describes a command. --version shows the library's version.\n"
               "The store is --dir, otherwise INGOT_PERSIST_DIR, otherwise\n"
               "$XDG_CACHE_HOME/ingot or ~/.cache/ingot.\n"
               "\n"
               "Exit status: 0 done; 1 the answer is negative (bad entries, no such entry, a\n"
               "miss, a wrong total); 2 wrong usage; 3 no store; 4 failed; 130 interrupted.\n"
               "\"ingot run\" returns the command's.");
}

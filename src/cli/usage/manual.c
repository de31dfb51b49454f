/*
 * manual.c - prints sections of the manual page; see manual.h. Options are bold, and a minus sign can be copied.
 */
#include "cli/usage/manual.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/usage/command.h"
#include "cli/usage/help.h"

/* Prints a character that has no meaning of its own. */
static void put_literal_character(char c)
{
    if (c == '-' || c == '\\')
        (void)fputs(c == '-' ? "\\-" : "\\e", stdout);
    else
        (void)putchar(c);
}

/* Prints text in which words such as --option are bold. */
static void put_option_text(const char *text)
{
    for (bool is_begin = true; *text != '\0'; is_begin = strchr(" (\n", *text) != NULL, ++text) {
        if (strncmp(text, "\n\n", 2) == 0) {
            (void)fputs("\n.IP\n", stdout);
            ++text;
            continue;
        }
        if (!is_begin || strncmp(text, "--", 2) != 0 || islower((unsigned char)text[2]) == 0) {
            put_literal_character(*text);
            continue;
        }
        (void)fputs("\\fB", stdout);
        for (; *text == '-' || islower((unsigned char)*text) != 0; ++text)
            put_literal_character(*text);
        (void)fputs("\\fR", stdout);
        --text;
    }
    (void)putchar('\n');
}

static void put_option(const struct command_option *option)
{
    char text[HELP_TEXT_SIZE];
    (void)fputs(".TP\n", stdout);
    if (option->letter != '\0')
        (void)printf("\\fB\\-%c\\fR, ", option->letter);
    if (option->name != NULL) {
        (void)fputs("\\fB\\-\\-", stdout);
        for (const char *c = option->name; *c != '\0'; ++c)
            put_literal_character(*c);
        (void)fputs("\\fR", stdout);
    }
    if ((option->flags & OPTION_VALUE_OPTIONAL) != 0)
        (void)printf("[=\\fI%s\\fR]", option->value);
    else if (option->value != NULL)
        (void)printf("%s\\fI%s\\fR", option->name != NULL ? "=" : "", option->value);
    (void)putchar('\n');
    put_option_text(help_text(option, text));
}

static void put_part(const char *part)
{
    if (strncmp(part, "ingot ", 6) == 0) {
        (void)printf("\\fB%s\\fR", part + 6);
        return;
    }
    (void)putchar(' ');
    for (; *part != '\0'; ++part)
        put_literal_character(*part);
}

static void put_command(const struct command *command)
{
    const struct command_option *option = command->options;
    (void)fputs(".TP\n", stdout);
    help_synopsis(command, put_part);
    (void)putchar('\n');
    put_option_text(command->about);
    (void)fputs(".RS\n", stdout);
    for (; option != NULL && option->help != NULL; ++option) {
        if ((option->flags & OPTION_HIDDEN) == 0)
            put_option(option);
    }
    (void)fputs(".RE\n", stdout);
}

void manual_print(void)
{
    const struct command *first = commands_all[0];
    const struct command_option *option;
    (void)puts(".SH COMMANDS");
    for (size_t i = 0; commands_all[i] != NULL; ++i)
        put_command(commands_all[i]);
    (void)puts(".SH OPTIONS\nEvery command has these options, of which\n.BR run \" and \" help\nhave only the last.");
    for (size_t i = 0; (option = command_get_option(first, i)) != NULL; ++i) {
        if (command_is_common(option))
            put_option(option);
    }
}

/*
 * command.c - reads arguments and prints the help by argp(3); see command.h.
 */
#include "cli/usage/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"
#include "util/quantity.h"

enum { WORD_SIZE = 24, EXPECTED_SIZE = 160, MOST_OPTIONS = 32, FIRST_LONG = 256, HELP_LETTER = 'h' };

/* Every command that is not bare has these. */
static const struct command_option common[] = {
    {"dir", 'd', VALUE_TEXT, "DIR", offsetof(struct common_options, directory),
     .help = "The store. Default: INGOT_PERSIST_DIR, or $XDG_CACHE_HOME/ingot, or ~/.cache/ingot"},
    {"namespace", 'n', VALUE_TEXT, "NAME", offsetof(struct common_options, name_space),
     .help = "Use only entries of this namespace. Default: INGOT_PERSIST_NAMESPACE for commands that store programs, "
             "and all namespaces for the others"},
    {"json", 'j', VALUE_NONE, NULL, offsetof(struct common_options, is_json),
     .help = "Print one JSON value, with sizes in bytes and times in UTC"},
    {.help = NULL},
};

/* A command as argp sees it. */
struct usage {
    char *values; /* the command's struct */
    const struct command_option *options[MOST_OPTIONS];
    size_t option_count;
    const struct command_option *operands[MOST_OPTIONS];
    size_t operand_count;
    struct argp_option described[MOST_OPTIONS + 2]; /* with -h and an end */
    struct argp argp;
    struct usage *before;
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands_all[i] != NULL; ++i)
        if (strcmp(commands_all[i]->name, name) == 0)
            return commands_all[i];
    (void)fprintf(stderr, "ingot: \"%s\" is not a command; \"ingot help\" lists the commands\n", name);
    return NULL;
}

int command_refuse(const struct command *command, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)fprintf(stderr, "ingot %s: ", command->name);
    (void)vfprintf(stderr, format, values);
    (void)fputc('\n', stderr);
    va_end(values);
    return EXIT_USAGE;
}

/* ---- values: the number 0 stands for the default everywhere ---- */

bool command_get_word(const char *words, size_t index, size_t capacity, char *word)
{
    for (; words != NULL && index != 0; --index) {
        words = strchr(words, ' ');
        words = words != NULL ? words + 1 : NULL;
    }
    if (words == NULL)
        return false;
    (void)snprintf(word, capacity, "%.*s", (int)strcspn(words, " "), words);
    return true;
}

/* Returns the word's position in the list, from 1, or 0 if it is not in it. */
static unsigned find_word(const char *words, const char *text)
{
    char word[WORD_SIZE];
    for (unsigned i = 0; command_get_word(words, i, sizeof(word), word); ++i) {
        if (text_is_word(text, word))
            return i + 1;
    }
    return 0;
}

static bool read_value(const struct command_option *option, const char *text, void *member)
{
    static const struct quantity_unit times[] = {{"ms", 1000000},
                                                 {"s", 1000000000},
                                                 {"m", 60 * UINT64_C(1000000000)},
                                                 {"h", 3600 * UINT64_C(1000000000)},
                                                 {"d", 86400 * UINT64_C(1000000000)},
                                                 {"w", 7 * 86400 * UINT64_C(1000000000)},
                                                 {NULL, 0}};
    const unsigned position = find_word(option->words, text);
    uint64_t quantity = 0;
    bool is_valid = true;
    if (option->kind == VALUE_WORD) {
        memcpy(member, &position, sizeof(position));
        return position != 0;
    }
    if (position != 0)
        quantity = text_is_word(text, "none") ? QUANTITY_NONE : QUANTITY_UNLIMITED;
    else if (strcmp(text, "0") == 0)
        quantity = 0;
    else if (option->kind == VALUE_TIME)
        is_valid = quantity_read(text, 0, times, &quantity);
    else
        is_valid = (option->kind == VALUE_SIZE ? quantity_read_size : quantity_read_count)(text, &quantity) &&
                   quantity < QUANTITY_NONE;
    if (is_valid)
        memcpy(member, &quantity, sizeof(quantity));
    return is_valid;
}

static const char *expected_value(const struct command_option *option, char text[EXPECTED_SIZE])
{
    static const char *const kinds[] = {
        [VALUE_WORD] = "",
        [VALUE_COUNT] = "a number",
        [VALUE_SIZE] = "a number of bytes with an optional K, M, G or T",
        [VALUE_TIME] = "a number with ms, s, m, h, d or w",
    };
    char word[WORD_SIZE];
    char next[WORD_SIZE];
    size_t length = (size_t)snprintf(text, EXPECTED_SIZE, "%s", kinds[option->kind]);
    for (size_t i = 0; command_get_word(option->words, i, sizeof(word), word); ++i) {
        const bool is_last = !command_get_word(option->words, i + 1, sizeof(next), next);
        const char *separator = length == 0 ? "" : !is_last ? ", " : i == 0 ? ", or " : " or ";
        const size_t room = length < EXPECTED_SIZE ? EXPECTED_SIZE - length : 0;
        length += (size_t)snprintf(text + length, room, "%s%s", separator, word);
    }
    return text;
}

/* ---- arguments ---- */

/* Writes a value to its member. */
static void take_value(struct argp_state *state, const struct command_option *option, char *text)
{
    char *member = ((struct usage *)state->input)->values + option->at;
    char expected[EXPECTED_SIZE];
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
    } else if (option->kind == VALUE_TEXT) {
        memcpy(member, &text, sizeof(text));
    } else if (!read_value(option, text, member)) {
        argp_failure(state, argp_err_exit_status, 0, "--%s: \"%s\" is not valid: use %s", option->name, text,
                     expected_value(option, expected));
    }
}

/* Returns the key by which argp names an option. */
static int key_of(const struct usage *usage, size_t index)
{
    const char letter = usage->options[index]->letter;
    return letter != '\0' ? letter : FIRST_LONG + (int)index;
}

/* A parser of argp(3). An operand may take all arguments behind it. */
static error_t take_argument(int key, char *text, struct argp_state *state)
{
    const struct usage *usage = state->input;
    const size_t count = usage->operand_count;
    if (key == ARGP_KEY_ARG) {
        const struct command_option *operand =
            count != 0 ? usage->operands[state->arg_num < count ? state->arg_num : count - 1] : NULL;
        if (operand == NULL || (state->arg_num >= count && (operand->flags & OPTION_REPEATED) == 0)) {
            argp_error(state, "\"%s\" is one argument too many", text);
        } else if ((operand->flags & OPTION_REST) != 0) {
            char **rest = &state->argv[state->next - 1];
            memcpy(usage->values + operand->at, &rest, sizeof(rest));
            state->next = state->argc;
        } else {
            take_value(state, operand, text);
        }
        return 0;
    }
    if (key == HELP_LETTER)
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    for (size_t i = 0; i < usage->option_count; ++i) {
        if (key_of(usage, i) == key) {
            take_value(state, usage->options[i], text);
            return 0;
        }
    }
    if (key == ARGP_KEY_END && state->arg_num < count &&
        (usage->operands[state->arg_num]->flags & OPTION_REQUIRED) != 0)
        argp_error(state, "the argument %s is missing", usage->operands[state->arg_num]->value);
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

/* Adds options and operands, and to `synopsis` and `about` what the help says about operands. */
static void add_options(struct usage *usage, const struct command_option *option, char **synopsis, char **about)
{
    for (; option != NULL && option->help != NULL; ++option) {
        const char *end = (option->flags & OPTION_REPEATED) != 0 ? "..." : "";
        char expected[EXPECTED_SIZE];
        char *help = memory_copy_text(option->help);
        if (option->kind > VALUE_TEXT) {
            help = text_append(help, ". ", option->value);
            help = text_append(help, " is ", expected_value(option, expected));
        }
        if (option->name == NULL) {
            const bool is_required = (option->flags & OPTION_REQUIRED) != 0;
            usage->operands[usage->operand_count++] = option;
            *synopsis = text_append(*synopsis, is_required ? " " : " [", option->value);
            *synopsis = text_append(*synopsis, end, is_required ? "" : "]");
            *about = text_append(text_append(*about, "\n\n", option->value), ": ", help);
            free(help);
            continue;
        }
        const size_t index = usage->option_count++;
        usage->options[index] = option;
        usage->described[index] =
            (struct argp_option){option->name,  key_of(usage, index),
                                 option->value, option->flags & (OPTION_ARG_OPTIONAL | OPTION_HIDDEN),
                                 help,          0};
    }
}

/* Usages and their texts are not freed, because argp may end the process. */
void command_parse(const struct command *command, int count, char **arguments, void *values)
{
    static struct usage *last;
    struct usage *usage = memory_get(sizeof(*usage));
    char *synopsis = memory_copy_text("");
    char *about = memory_copy_text(command->about);
    char **words = arguments - 1; /* the first is the command's name */
    unsigned flags = 0;
    *usage = (struct usage){.before = last, .values = values};
    last = usage;
    add_options(usage, command->options, &synopsis, &about);
    if (!command->is_bare)
        add_options(usage, common, &synopsis, &about);
    usage->described[usage->option_count] = (struct argp_option){.key = HELP_LETTER, .flags = OPTION_HIDDEN, .doc = ""};
    usage->argp =
        (struct argp){usage->described, take_argument, synopsis + (synopsis[0] == ' '), about, NULL, NULL, NULL};
    for (size_t i = 0; i < usage->operand_count; ++i)
        flags |= (usage->operands[i]->flags & OPTION_REST) != 0 ? ARGP_IN_ORDER : 0;
    argp_err_exit_status = command->usage_exit != 0 ? command->usage_exit : EXIT_USAGE;
    words[0] = text_append(memory_copy_text("ingot "), "", command->name);
    (void)argp_parse(&usage->argp, count + 1, words, flags, NULL, usage);
}

void command_print_list(void)
{
    const char *group = "";
    (void)puts("Usage: ingot COMMAND [OPTION...]\n"
               "Inspects and maintains a store of compiled device programs and artifacts, and\n"
               "runs commands with it.");
    for (size_t i = 0; commands_all[i] != NULL; ++i) {
        if (strcmp(group, commands_all[i]->group) != 0)
            (void)printf("\n%s:\n", commands_all[i]->group);
        group = commands_all[i]->group;
        (void)printf("  %-9s %s\n", commands_all[i]->name, commands_all[i]->summary);
    }
    (void)puts("\n\"ingot help COMMAND\" describes a command. --version shows the library's version.\n"
               "The store is --dir, otherwise INGOT_PERSIST_DIR, otherwise\n"
               "$XDG_CACHE_HOME/ingot or ~/.cache/ingot.\n"
               "\n"
               "Exit status: 0 done; 1 the answer is negative (bad entries, no such entry, a\n"
               "miss); 2 wrong usage; 3 no store; 4 failed; 130 interrupted.\n"
               "\"ingot run\" returns the command's.");
}

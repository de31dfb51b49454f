/*
 * complete.c - completes a command line; see help.h.
 *
 * bash makes three words of --dir=STORE, so the word "=" after an option stands before the option's value.
 */
#include "cli/usage/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/options.h"
#include "cli/store/entry.h"
#include "cli/store/store.h"
#include "cli/usage/command.h"
#include "cli/usage/value.h"

struct completing {
    const struct command *command;
    int count;
    char **words;
    int at;           /* the word to complete */
    const char *text; /* what it is so far */
    char *directory;  /* the value of --dir, or NULL */
    size_t operand_count;
    bool is_rest; /* after "--" */
};

static void offer_candidate(const struct completing *completing, const char *prefix, const char *candidate)
{
    char text[ENTRY_NAME_SIZE];
    (void)snprintf(text, sizeof(text), "%s%s", prefix, candidate);
    if (strncmp(text, completing->text, strlen(completing->text)) == 0)
        (void)puts(text);
}

static int offer_entry_name(const ingot_persist_entry_t *facts, void *user)
{
    char name[ENTRY_NAME_SIZE];
    entry_name(facts, name);
    offer_candidate(user, "", name);
    return 1;
}

static void offer_entry_names(struct completing *completing)
{
    const struct common_options options = {.directory = completing->directory};
    ingot_storage_t storage = NULL;
    if (store_open(&storage, &options, STORE_READ, NULL) == EXIT_DONE)
        (void)entry_visit_all(storage, offer_entry_name, completing);
    ingot_storage_release(storage);
}

static void offer_values(struct completing *completing, const struct command_option *option)
{
    char word[ENTRY_NAME_SIZE];
    for (size_t i = 0; value_get_word(option->words, i, sizeof(word), word); ++i)
        offer_candidate(completing, "", word);
    if (option->kind == VALUE_FILE || option->kind == VALUE_ENTRY)
        (void)puts("\tfile");
    else if (option->kind == VALUE_FOLDER)
        (void)puts("\tfolder");
    if (option->kind == VALUE_ENTRY)
        offer_entry_names(completing);
}

static void offer_options(const struct completing *completing)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_get_option(completing->command, i)) != NULL; ++i) {
        if ((option->flags & OPTION_HIDDEN) == 0)
            offer_candidate(completing, "--", option->name);
    }
}

static void offer_commands(const struct completing *completing)
{
    for (size_t i = 0; commands_all[i] != NULL; ++i)
        offer_candidate(completing, "", commands_all[i]->name);
}

/* Returns the option with this name, or the only one whose name begins with it; NULL if there is none. */
static const struct command_option *find_option(const struct command *command, const char *name)
{
    const struct command_option *found = NULL;
    const struct command_option *option;
    const size_t size = strlen(name);
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

/* Returns the option that a word names and whose value is the next word, or NULL. */
static const struct command_option *option_before_value(const struct command *command, const char *word)
{
    const struct command_option *option = NULL;
    if (strncmp(word, "--", 2) == 0 && strchr(word, '=') == NULL)
        option = find_option(command, word + 2);
    else if (word[0] == '-' && word[1] != '\0' && word[2] == '\0')
        option = command_find_letter(command, word[1]);
    return option != NULL && option->kind != VALUE_NONE ? option : NULL;
}

/* Passes over an option and its value. Returns the option if its value is the word to complete, and otherwise NULL. */
static const struct command_option *skip_option(struct completing *completing, int *i)
{
    const struct command_option *option = option_before_value(completing->command, completing->words[*i]);
    const bool has_sign = *i + 1 < completing->count && strcmp(completing->words[*i + 1], "=") == 0;
    ++*i;
    if (option == NULL || (!has_sign && (option->flags & OPTION_VALUE_OPTIONAL) != 0))
        return NULL;
    if (has_sign && *i < completing->at)
        ++*i;
    else if (has_sign)
        completing->text = ""; /* the word to complete is the sign itself */
    if (*i >= completing->at)
        return option;
    if (strcmp(option->name, "dir") == 0)
        completing->directory = completing->words[*i];
    ++*i;
    return NULL;
}

/* Completes a word after the command's name. */
static void complete_argument(struct completing *completing)
{
    const struct command_option *operand = command_get_operand(completing->command, 0);
    for (int i = 2; i < completing->at;) {
        const char *word = completing->words[i];
        if (!completing->is_rest && word[0] == '-' && word[1] != '\0') {
            completing->is_rest = strcmp(word, "--") == 0;
            const struct command_option *option = skip_option(completing, &i);
            if (option != NULL) {
                offer_values(completing, option);
                return;
            }
            continue;
        }
        if (operand != NULL && (operand->flags & OPTION_REST) != 0) {
            (void)printf("\tcommand %d\n", i);
            return;
        }
        operand = command_get_operand(completing->command, ++completing->operand_count);
        ++i;
    }
    if (!completing->is_rest && completing->text[0] == '-')
        offer_options(completing);
    else if (operand != NULL && (operand->flags & OPTION_REST) != 0)
        (void)printf("\tcommand %d\n", completing->at);
    else if (operand != NULL && operand->kind == VALUE_COMMAND)
        offer_commands(completing);
    else if (operand != NULL)
        offer_values(completing, operand);
}

void complete_print(int count, char **words, int at)
{
    struct completing completing = {.count = count, .words = words, .at = at, .text = at < count ? words[at] : ""};
    if (at == 1) {
        offer_commands(&completing);
        offer_candidate(&completing, "", "--help");
        offer_candidate(&completing, "", "--version");
        return;
    }
    completing.command = at > 1 && count > 1 ? command_find(words[1]) : NULL;
    if (completing.command != NULL)
        complete_argument(&completing);
}

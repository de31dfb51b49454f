/*
 * file_name.h - makes file names for the texts of a recipe, whose own names may contain anything.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_FILE_NAME_H
#define INGOT_CLI_COMMANDS_RECIPE_FILE_NAME_H

#include <ingot/ingot.h>
#include <stdbool.h>
#include <stddef.h>

enum { FILE_NAME_SIZE = 160 };

/* Makes a name of at most 150 characters of [A-Za-z0-9._-], which does not begin with a dot or a dash and is not
 * "program.txt". All other characters become '_', including slashes. A text without a name is named after its kind. */
void file_name_make(const char *name, ingot_source_kind_t kind, bool has_number, size_t number,
                    char file_name[FILE_NAME_SIZE]);

#endif

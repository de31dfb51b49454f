/*
 * file_name.h - file names for the texts of a recipe, whose own names may be anything.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_FILE_NAME_H
#define INGOT_CLI_COMMANDS_RECIPE_FILE_NAME_H

#include <ingot/ingot.h>
#include <stdbool.h>
#include <stddef.h>

enum { FILE_NAME_SIZE = 160 };

/* Makes a name of at most 150 of [A-Za-z0-9._-], which does not begin with a dot or a dash and is not "program.txt".
 * Other characters become '_', also slashes. A text without a name is called by its kind. */
void file_name_make(const char *name, ingot_source_kind_t kind, bool has_number, size_t number,
                    char file_name[FILE_NAME_SIZE]);

#endif

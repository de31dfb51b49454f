/*
 * table.h - prints JSON objects as the rows of a table, in aligned columns on standard output. On a terminal, long
 * cells are cut so that a row fits, and titles and the statuses of bad entries have colors.
 */
#ifndef INGOT_CLI_BASE_TABLE_H
#define INGOT_CLI_BASE_TABLE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

struct table_column {
    const char *title;
    const char *pattern; /* of a cell (output.h); an empty cell shows "-" */
    bool is_number;      /* aligned to the right */
};

/* Prints all objects of a list as a table, and nothing if there are none. */
void table_print_list(const cJSON *list, size_t column_count, const struct table_column *columns);

#endif

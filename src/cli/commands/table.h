/*
 * table.h - prints aligned columns on standard output.
 */
#ifndef INGOT_CLI_COMMANDS_TABLE_H
#define INGOT_CLI_COMMANDS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table_column {
    const char *title;
    bool is_number; /* aligned to the right */
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    char **cells; /* row by row */
    size_t cell_count;
};

void table_init(struct table *table, size_t column_count, const struct table_column *columns);
/* Adds the next cell, a copy of the text; NULL prints "-". Rows fill from left to right. */
void table_add(struct table *table, const char *cell);
void table_print(const struct table *table);
void table_fini(struct table *table);

#endif

/*
 * table.c - prints aligned columns; see table.h.
 */
#include "cli/base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/output.h"
#include "cli/base/text.h"

struct table {
    const struct table_column *columns;
    size_t column_count;
    char **cells; /* row by row */
    size_t cell_count;
};

static void add_row(struct table *table, const cJSON *row)
{
    for (size_t column = 0; column < table->column_count; ++column) {
        char *cell = output_text(table->columns[column].pattern, row);
        table->cells = memory_grow(table->cells, table->cell_count, sizeof(*table->cells));
        table->cells[table->cell_count++] = cell;
    }
}

static size_t width_of(const struct table *table, size_t column)
{
    size_t width = strlen(table->columns[column].title);
    for (size_t i = column; i < table->cell_count; i += table->column_count) {
        const size_t of_cell = text_width(table->cells[i]);
        width = of_cell > width ? of_cell : width;
    }
    return width;
}

static void print_cell(const struct table *table, size_t column, size_t width, const char *cell)
{
    const char *shown = cell[0] != '\0' ? cell : "-";
    const int padding = (int)(width - text_width(shown));
    const bool is_last = column + 1 == table->column_count;
    if (table->columns[column].is_number)
        (void)printf("%*s", padding, "");
    (void)fputs(shown, stdout);
    if (!is_last)
        (void)printf("%*s", table->columns[column].is_number ? 2 : padding + 2, "");
    else
        (void)putchar('\n');
}

static void print_table(struct table *table)
{
    size_t *widths = memory_get(table->column_count * sizeof(*widths));
    for (size_t column = 0; column < table->column_count; ++column)
        widths[column] = width_of(table, column);
    for (size_t column = 0; column < table->column_count; ++column)
        print_cell(table, column, widths[column], table->columns[column].title);
    for (size_t i = 0; i < table->cell_count; ++i) {
        print_cell(table, i % table->column_count, widths[i % table->column_count], table->cells[i]);
        free(table->cells[i]);
    }
    free(table->cells);
    free(widths);
}

void table_print_list(const cJSON *list, size_t column_count, const struct table_column *columns)
{
    struct table table = {.columns = columns, .column_count = column_count};
    const cJSON *row;
    if (list->child == NULL)
        return;
    cJSON_ArrayForEach(row, list)
    {
        add_row(&table, row);
    }
    print_table(&table);
}

void table_report(cJSON *list, bool is_json, size_t column_count, const struct table_column *columns)
{
    if (is_json) {
        json_print(list);
        return;
    }
    table_print_list(list, column_count, columns);
    cJSON_Delete(list);
}

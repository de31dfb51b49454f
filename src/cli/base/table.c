/*
 * table.c - prints aligned columns; see base.h.
 */
#include "cli/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST_WIDTH = 8, GAP = 2 };

struct table {
    const struct table_column *columns;
    size_t column_count;
    size_t *widths;
    char **cells; /* row by row; the first row has the titles */
    size_t cell_count;
    bool has_colors;
};

static void add_cell(struct table *table, char *text)
{
    const size_t column = table->cell_count % table->column_count;
    const size_t width = text_width(text);
    table->cells = memory_grow(table->cells, table->cell_count, sizeof(*table->cells));
    table->cells[table->cell_count++] = text;
    if (width > table->widths[column])
        table->widths[column] = width;
}

/* Makes the widest columns of text narrower until a row fits, but no column narrower than its title. */
static void fit_widths(struct table *table, size_t limit)
{
    for (;;) {
        size_t total = GAP * (table->column_count - 1);
        size_t widest = SIZE_MAX;
        for (size_t i = 0; i < table->column_count; ++i) {
            const size_t width = table->widths[i];
            total += width;
            if (!table->columns[i].is_number && width > LEAST_WIDTH && width > strlen(table->columns[i].title) &&
                (widest == SIZE_MAX || width > table->widths[widest]))
                widest = i;
        }
        if (total <= limit || widest == SIZE_MAX)
            return;
        --table->widths[widest];
    }
}

void table_print_list(const cJSON *list, size_t column_count, const struct table_column *columns)
{
    const char *no_color = getenv("NO_COLOR");
    struct table table = {.columns = columns, .column_count = column_count};
    struct winsize size;
    const cJSON *row;
    if (list->child == NULL)
        return;
    table.widths = memory_get(column_count * sizeof(*table.widths));
    for (size_t column = 0; column < column_count; ++column)
        add_cell(&table, memory_copy_text(columns[column].title));
    cJSON_ArrayForEach(row, list)
    {
        for (size_t column = 0; column < column_count; ++column)
            add_cell(&table, output_text(columns[column].pattern, row));
    }
    const bool is_terminal = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    const size_t width = is_terminal && size.ws_col != 0 ? size.ws_col : SIZE_MAX;
    table.has_colors = width != SIZE_MAX && (no_color == NULL || no_color[0] == '\0');
    fit_widths(&table, width);
    for (size_t i = 0; i < table.cell_count; ++i) {
        const size_t place = i % table.column_count;
        const bool is_last = place + 1 == table.column_count;
        const bool is_title = i < table.column_count;
        char *cell = table.cells[i];
        text_cut(cell, table.widths[place]);
        const char *shown = cell[0] != '\0' ? cell : "-";
        const bool is_bad = strncmp(shown, "INGOT_", 6) == 0; /* the status of a bad entry */
        const char *color = !table.has_colors ? "" : is_title ? "\033[1m" : is_bad ? "\033[31m" : "";
        const int padding = (int)(table.widths[place] - text_width(shown));
        (void)printf("%*s%s%s%s", table.columns[place].is_number ? padding : 0, "", color, shown,
                     color[0] != '\0' ? "\033[0m" : "");
        if (is_last)
            (void)putchar('\n');
        else
            (void)printf("%*s", table.columns[place].is_number ? GAP : padding + GAP, "");
        free(table.cells[i]);
    }
    free(table.cells);
    free(table.widths);
}

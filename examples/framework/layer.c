/*
 * layer.c - row normalization: the source of its kernels, and a reference in plain C that checks their results.
 */
#include "layer.h"

#include <math.h>
#include <stdio.h>

#define EPSILON 1e-5
#define TOLERANCE 1e-9

const char layer_source[] = "#include \"dialect.h\"\n"
                            "KERNEL(forward)(MEMORY const double *in, MEMORY double *out, unsigned long count)\n"
                            "{\n"
                            "    EACH_ROW(row, count) {\n"
                            "        MEMORY const double *x = in + row * COLUMNS;\n"
                            "        MEMORY const double *bias = x + ROWS * COLUMNS;\n"
                            "        MEMORY double *y = out + row * COLUMNS;\n"
                            "        double mean = 0, variance = 0;\n"
                            "        for (int i = 0; i < COLUMNS; ++i)\n"
                            "            mean += (x[i] + bias[i]) / COLUMNS;\n"
                            "        for (int i = 0; i < COLUMNS; ++i) {\n"
                            "            y[i] = x[i] + bias[i] - mean;\n"
                            "            variance += y[i] * y[i] / COLUMNS;\n"
                            "        }\n"
                            "        double scale = 1 / sqrt(variance + 1e-5);\n"
                            "        for (int i = 0; i < COLUMNS; ++i)\n"
                            "            y[i] = y[i] * scale;\n"
                            "        out[ROWS * COLUMNS + row] = scale;\n"
                            "    }\n"
                            "}\n"
                            "KERNEL(backward)(MEMORY const double *in, MEMORY double *out, unsigned long count)\n"
                            "{\n"
                            "    EACH_ROW(row, count) {\n"
                            "        MEMORY const double *dy = in + row * COLUMNS;\n"
                            "        MEMORY const double *y = in + ROWS * COLUMNS + row * COLUMNS;\n"
                            "        double scale = in[2 * ROWS * COLUMNS + row], sum = 0, product = 0;\n"
                            "        for (int i = 0; i < COLUMNS; ++i) {\n"
                            "            sum += dy[i] / COLUMNS;\n"
                            "            product += dy[i] * y[i] / COLUMNS;\n"
                            "        }\n"
                            "        for (int i = 0; i < COLUMNS; ++i)\n"
                            "            out[row * COLUMNS + i] = scale * (dy[i] - sum - y[i] * product);\n"
                            "    }\n"
                            "}\n";

void shape_get_name(const struct shape *shape, char name[SHAPE_NAME_SIZE])
{
    (void)snprintf(name, SHAPE_NAME_SIZE, "%zux%zu", shape->rows, shape->columns);
}

struct shape shape_of_number(size_t number)
{
    return (struct shape){1 + number % 16, 8 + number / 16 * 4};
}

size_t shape_count(const struct shape *shape)
{
    return shape->rows * shape->columns;
}

size_t layer_forward_in(const struct shape *shape)
{
    return 2 * shape_count(shape);
}

size_t layer_forward_out(const struct shape *shape)
{
    return shape_count(shape) + shape->rows;
}

size_t layer_backward_in(const struct shape *shape)
{
    return shape_count(shape) + layer_forward_out(shape);
}

size_t layer_backward_out(const struct shape *shape)
{
    return shape_count(shape);
}

void layer_pack_bias(const struct shape *shape, double *packed)
{
    for (size_t row = 0; row < shape->rows; ++row) {
        for (size_t i = 0; i < shape->columns; ++i)
            packed[row * shape->columns + i] = (double)(i % 7) / 8;
    }
}

static int is_near(double expected, double found)
{
    return fabs(expected - found) <= TOLERANCE * (1 + fabs(expected));
}

static int is_forward_row(size_t columns, const double *x, const double *bias, const double *y, double scale)
{
    double mean = 0;
    double variance = 0;
    for (size_t i = 0; i < columns; ++i)
        mean += (x[i] + bias[i]) / (double)columns;
    for (size_t i = 0; i < columns; ++i)
        variance += (x[i] + bias[i] - mean) * (x[i] + bias[i] - mean) / (double)columns;
    const double expected = 1 / sqrt(variance + EPSILON);
    int holds = is_near(expected, scale);
    for (size_t i = 0; i < columns; ++i)
        holds = holds && is_near((x[i] + bias[i] - mean) * expected, y[i]);
    return holds;
}

int layer_is_forward(const struct shape *shape, const double *in, const double *out)
{
    const double *bias = in + shape_count(shape);
    int holds = 1;
    for (size_t row = 0; row < shape->rows; ++row) {
        const size_t start = row * shape->columns;
        holds = holds &&
                is_forward_row(shape->columns, in + start, bias + start, out + start, out[shape_count(shape) + row]);
    }
    return holds;
}

static int is_backward_row(size_t columns, const double *dy, const double *y, double scale, const double *dx)
{
    double sum = 0;
    double product = 0;
    int holds = 1;
    for (size_t i = 0; i < columns; ++i) {
        sum += dy[i] / (double)columns;
        product += dy[i] * y[i] / (double)columns;
    }
    for (size_t i = 0; i < columns; ++i)
        holds = holds && is_near(scale * (dy[i] - sum - y[i] * product), dx[i]);
    return holds;
}

int layer_is_backward(const struct shape *shape, const double *in, const double *dx)
{
    const double *y = in + shape_count(shape);
    const double *scales = y + shape_count(shape);
    int holds = 1;
    for (size_t row = 0; row < shape->rows; ++row) {
        const size_t start = row * shape->columns;
        holds = holds && is_backward_row(shape->columns, in + start, y + start, scales[row], dx + start);
    }
    return holds;
}

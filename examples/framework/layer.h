/*
 * layer.h - the only operation of this framework: it adds a bias to a matrix, and normalizes each row to mean 0 and
 * variance 1.
 *
 * As in most layers, the backward operation needs results of the forward operation (the normalized rows and their
 * scales).
 */
#ifndef FRAMEWORK_LAYER_H
#define FRAMEWORK_LAYER_H

#include <stddef.h>

/* An input shape. Each program is compiled for one shape, with the shape's numbers as constants. */
struct shape {
    size_t rows;
    size_t columns;
};

enum { SHAPE_NAME_SIZE = 32 };
void shape_get_name(const struct shape *shape, char name[SHAPE_NAME_SIZE]); /* such as "16x256"; names its group */
/* Returns a shape for each `number`. Different numbers give different shapes. */
struct shape shape_of_number(size_t number);
size_t shape_count(const struct shape *shape); /* number of its values */

/* Source of the kernels "forward" and "backward". It needs -DROWS, -DCOLUMNS and "dialect.h". */
extern const char layer_source[];

/* Return how many values a kernel reads and writes. "forward" reads x and then the bias, and writes y and then one
 * scale per row. "backward" reads dy, y and the scales, in this order, and writes dx. */
size_t layer_forward_in(const struct shape *shape);
size_t layer_forward_out(const struct shape *shape);
size_t layer_backward_in(const struct shape *shape);
size_t layer_backward_out(const struct shape *shape);

/* Packs the bias into the layout of this shape. Frameworks call this packed or reordered weights. */
void layer_pack_bias(const struct shape *shape, double *packed);

/* True if the kernels' results equal those of plain C, except for rounding. */
int layer_is_forward(const struct shape *shape, const double *in, const double *out);
int layer_is_backward(const struct shape *shape, const double *in, const double *dx);

#endif

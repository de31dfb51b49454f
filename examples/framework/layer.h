/*
 * layer.h - the only operation of this framework: it adds a bias to a matrix, and normalizes each row to mean 0 and
 * variance 1.
 *
 * Like most layers, the backward operation needs results of the forward one (the normalized rows and their scales).
 */
#ifndef FRAMEWORK_LAYER_H
#define FRAMEWORK_LAYER_H

#include <stddef.h>

/* An input shape. Each program is compiled for one shape, with its numbers as constants. */
struct shape {
    size_t rows;
    size_t columns;
};

enum { SHAPE_NAME_SIZE = 32 };
void shape_get_name(const struct shape *shape, char name[SHAPE_NAME_SIZE]); /* "16x256": its group */
/* Returns the number-th of many different shapes. */
struct shape shape_of_number(size_t number);
size_t shape_count(const struct shape *shape); /* bytes of its values */

/* Kernels "forward" and "backward"; they need -DROWS and -DCOLUMNS, and "dialect.h". */
extern const char layer_source[];

/* forward: from x followed by the bias, to y followed by one scale per row.
 * backward: from dy, y and the scales in sequence, to dx. Sizes in values. */
size_t layer_forward_in(const struct shape *shape);
size_t layer_forward_out(const struct shape *shape);
size_t layer_backward_in(const struct shape *shape);
size_t layer_backward_out(const struct shape *shape);

/* Packs the bias into the layout of this shape. Frameworks call this packed or reordered weights. */
void layer_pack_bias(const struct shape *shape, double *packed);

/* Computes the same in plain C; true if the kernels' results are right. */
int layer_is_forward(const struct shape *shape, const double *in, const double *out);
int layer_is_backward(const struct shape *shape, const double *in, const double *dx);

#endif

/*
 * layer.h - the one operation of this framework: a bias is added to a matrix, and each row is normalized to mean 0 and
 * variance 1.
 *
 * The way back needs what the way forward computed (the normalized rows and their scales), as most layers do.
 */
#ifndef FRAMEWORK_LAYER_H
#define FRAMEWORK_LAYER_H

#include <stddef.h>

/* An input shape. Programs are compiled for one shape, with its numbers as constants. */
struct shape {
    size_t rows;
    size_t columns;
};

enum { SHAPE_NAME_SIZE = 32 };
void shape_get_name(const struct shape *shape, char name[SHAPE_NAME_SIZE]); /* "16x256": its group */
/* The number-th of many that differ. */
struct shape shape_of_number(size_t number);
size_t shape_count(const struct shape *shape); /* of its values */

/* Kernels "forward" and "backward"; they need -DROWS and -DCOLUMNS, and "dialect.h". */
extern const char layer_source[];

/* forward: x and the bias, one behind the other, to y and, behind it, a scale a row.
 * backward: dy, y and the scales, one behind the other, to dx. Sizes in values. */
size_t layer_forward_in(const struct shape *shape);
size_t layer_forward_out(const struct shape *shape);
size_t layer_backward_in(const struct shape *shape);
size_t layer_backward_out(const struct shape *shape);

/* The bias, laid out as this shape needs it: what frameworks call packed or reordered weights. */
void layer_pack_bias(const struct shape *shape, double *packed);

/* The same without a compiler: whether the kernels' results are right. */
int layer_is_forward(const struct shape *shape, const double *in, const double *out);
int layer_is_backward(const struct shape *shape, const double *in, const double *dx);

#endif

/*
 * common.h - declarations that the kernels of the digits example share. The kernels' options name this directory
 * with -I.
 *
 * Arrays are ordered by image, channel, row and column. If a kernel's global size is rounded up to whole work-groups,
 * the kernel takes the number of images, and the surplus work-items write nothing.
 */
#ifndef DIGITS_COMMON_H
#define DIGITS_COMMON_H

#define SIDE 8
#define PIXELS (SIDE * SIDE)

/* Applies ReLU if the program is built with FUSE_RELU, so that a layer and its activation need only one launch. */
static inline float activate(float x)
{
#ifdef FUSE_RELU
    return fmax(x, 0.0f);
#else
    return x;
#endif
}

#endif

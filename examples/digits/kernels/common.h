/*
 * common.h - declarations that the kernels of the digits example share. Options name its directory with -I.
 *
 * Arrays are ordered by image, channel, row and column. A kernel whose global size is rounded up to whole
 * work-groups takes the number of images.
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

/*
 * common.h - what the kernels of the digits example share; included through -I.
 *
 * Arrays are laid out image, channel, row, column. Every kernel takes the number of images, because global sizes are
 * rounded up to whole work-groups.
 */
#ifndef DIGITS_COMMON_H
#define DIGITS_COMMON_H

#define SIDE 8
#define PIXELS (SIDE * SIDE)

/* An activation that the program may have been built with, so that a layer is one launch instead of two. */
static inline float activate(float x)
{
#ifdef FUSE_RELU
    return fmax(x, 0.0f);
#else
    return x;
#endif
}

#endif

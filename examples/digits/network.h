/*
 * network.h - runs the network on the device.
 *
 * The network: 1x8x8 input -> 3x3 convolution, 8 channels -> 3x3 convolution, 16 channels -> 2x2 max pooling -> dense,
 * 32 -> dense, 10 classes.
 */
#ifndef DIGITS_NETWORK_H
#define DIGITS_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "data.h"
#include "device.h"
#include "programs.h"

struct network {
    const struct device *device;
    ingot_kernel_t kernels[PROGRAM_COUNT];
    cl_kernel native[PROGRAM_COUNT];
    cl_mem weights[TENSOR_COUNT];
    cl_mem pixels, normalized, conv1, conv2, pooled, hidden, logits, probabilities, labels;
};

/* Creates the kernels, and buffers for up to `max_images` images at once. Returns 0. On failure, prints the reason and
 * returns -1. */
int network_open(struct network *network, const struct device *device, const struct programs *programs,
                 const struct weights *weights, size_t max_images);

/* Classifies `count` images. Writes one byte per image to `labels`, and CLASSES floats per image to `logits`. */
int network_classify(struct network *network, const uint8_t *pixels, size_t count, uint8_t *labels, float *logits);

void network_close(struct network *network);

#endif

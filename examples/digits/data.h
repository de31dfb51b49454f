/*
 * data.h - reads the trained weights and the test images, which train.py wrote. README.md describes the formats.
 */
#ifndef DIGITS_DATA_H
#define DIGITS_DATA_H

#include <stddef.h>
#include <stdint.h>

/* Plain numbers without parentheses and suffixes, because programs.c pastes their text into the kernels' options. */
#define SIDE 8
#define PIXELS 64
#define MAX_PIXEL 16
#define CONV1 8
#define CONV2 16
#define POOLED 256 /* CONV2 channels of 4x4. */
#define HIDDEN 32
#define CLASSES 10

enum tensor {
    CONV1_WEIGHTS,
    CONV1_BIAS,
    CONV2_WEIGHTS,
    CONV2_BIAS,
    HIDDEN_WEIGHTS,
    HIDDEN_BIAS,
    CLASS_WEIGHTS,
    CLASS_BIAS,
    TENSOR_COUNT
};

struct weights {
    float *values; /* Owned; all tensors, one after another. */
    const float *tensors[TENSOR_COUNT];
    size_t sizes[TENSOR_COUNT]; /* In floats. */
};

struct images {
    size_t count;
    uint8_t *pixels; /* Owned; PIXELS bytes per image, each 0 to MAX_PIXEL. */
    uint8_t *labels; /* Owned; 0 to 9. */
};

/* Returns the content of a file, followed by a NUL that *size does not count. The caller frees it. On failure, prints
 * the reason and returns NULL. */
char *data_read_file(const char *folder, const char *name, size_t *size);

/* Return 0. On failure, print the reason and return -1. */
int data_read_weights(struct weights *weights, const char *folder);
int data_read_images(struct images *images, const char *folder);

void data_free_weights(struct weights *weights);
void data_free_images(struct images *images);

#endif

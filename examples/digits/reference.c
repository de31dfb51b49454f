/*
 * reference.c - computes the network in plain C, as train.py does. It is not optimized for speed.
 */
#include "reference.h"

#include <math.h>
#include <stdio.h>

/* Devices may add numbers in a different order, and may fuse multiplications with additions. The errors of a wrong
 * kernel are much larger. */
#define TOLERANCE 1e-3f

static float at(const float *plane, int row, int column)
{
    return row >= 0 && row < SIDE && column >= 0 && column < SIDE ? plane[row * SIDE + column] : 0.0f;
}

static void convolve(const float *input, int in_channels, const float *weights, const float *bias, int out_channels,
                     float *output)
{
    for (int out = 0; out < out_channels; ++out)
        for (int i = 0; i < PIXELS; ++i) {
            float sum = bias[out];
            for (int c = 0; c < in_channels; ++c)
                for (int k = 0; k < 9; ++k)
                    sum += weights[(out * in_channels + c) * 9 + k] *
                           at(input + c * PIXELS, i / SIDE + k / 3 - 1, i % SIDE + k % 3 - 1);
            output[out * PIXELS + i] = fmaxf(sum, 0.0f);
        }
}

static void pool(const float *input, float *output)
{
    for (int i = 0; i < POOLED; ++i) {
        const float *w = input + i / 16 * PIXELS + i / 4 % 4 * 2 * SIDE + i % 4 * 2;
        output[i] = fmaxf(fmaxf(w[0], w[1]), fmaxf(w[SIDE], w[SIDE + 1]));
    }
}

static void dense(const float *input, int inputs, const float *weights, const float *bias, int outputs, float *output)
{
    for (int out = 0; out < outputs; ++out) {
        output[out] = bias[out];
        for (int i = 0; i < inputs; ++i)
            output[out] += weights[out * inputs + i] * input[i];
    }
}

void reference_classify(const struct weights *weights, const uint8_t *pixels, float logits[CLASSES])
{
    const float *const *t = weights->tensors;
    float normalized[PIXELS], conv1[CONV1 * PIXELS], conv2[CONV2 * PIXELS], pooled[POOLED], hidden[HIDDEN];
    for (int i = 0; i < PIXELS; ++i)
        normalized[i] = (float)pixels[i] * (2.0f / MAX_PIXEL) - 1.0f;
    convolve(normalized, 1, t[CONV1_WEIGHTS], t[CONV1_BIAS], CONV1, conv1);
    convolve(conv1, CONV1, t[CONV2_WEIGHTS], t[CONV2_BIAS], CONV2, conv2);
    pool(conv2, pooled);
    dense(pooled, POOLED, t[HIDDEN_WEIGHTS], t[HIDDEN_BIAS], HIDDEN, hidden);
    for (int i = 0; i < HIDDEN; ++i)
        hidden[i] = fmaxf(hidden[i], 0.0f);
    dense(hidden, HIDDEN, t[CLASS_WEIGHTS], t[CLASS_BIAS], CLASSES, logits);
}

static int agrees(const float *expected, const float *logits, uint8_t label)
{
    int best = 0;
    for (int i = 0; i < CLASSES; ++i) {
        if (!(fabsf(logits[i] - expected[i]) <= TOLERANCE * (1.0f + fabsf(expected[i]))))
            return 0; /* Also returned if the logit is a NaN. */
        if (expected[i] > expected[best])
            best = i;
    }
    return label == best;
}

size_t reference_count_differences(const struct weights *weights, const struct images *images, const uint8_t *labels,
                                   const float *logits)
{
    size_t differences = 0;
    for (size_t i = 0; i < images->count; ++i) {
        float expected[CLASSES];
        reference_classify(weights, images->pixels + i * PIXELS, expected);
        if (agrees(expected, logits + i * CLASSES, labels[i]))
            continue;
        ++differences;
        fprintf(stderr, "digits: image %zu differs from the reference\n", i);
    }
    return differences;
}

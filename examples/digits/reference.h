/*
 * reference.h - computes the same network in plain C, to check the device's answers.
 */
#ifndef DIGITS_REFERENCE_H
#define DIGITS_REFERENCE_H

#include "data.h"

/* Computes the logits of one image. */
void reference_classify(const struct weights *weights, const uint8_t *pixels, float logits[CLASSES]);

/* Returns the number of images for which the device's result is wrong: a label differs, or the error of a logit is
 * larger than rounding can explain. Prints these images to stderr. */
size_t reference_count_differences(const struct weights *weights, const struct images *images, const uint8_t *labels,
                                   const float *logits);

#endif

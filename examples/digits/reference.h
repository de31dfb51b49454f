/*
 * reference.h - the same network in plain C, against which the device's answers are checked.
 */
#ifndef DIGITS_REFERENCE_H
#define DIGITS_REFERENCE_H

#include "data.h"

/* The logits of one image. */
void reference_classify(const struct weights *weights, const uint8_t *pixels, float logits[CLASSES]);

/* How many of the images the device got otherwise than the reference: another label, or a logit further away than
 * rounding explains. Says on stderr which. */
size_t reference_count_differences(const struct weights *weights, const struct images *images, const uint8_t *labels,
                                   const float *logits);

#endif

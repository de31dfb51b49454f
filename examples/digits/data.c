/*
 * data.c - reads the weights, the images and the kernels' sources. Checks a data file's mark, dimensions and size
 * before using it.
 */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK_SIZE 8

static uint32_t read_u32(const char *from)
{
    const unsigned char *b = (const unsigned char *)from;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float read_float(const char *from)
{
    const uint32_t bits = read_u32(from);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static char *read_stream(FILE *file, size_t *size)
{
    if (fseek(file, 0, SEEK_END) != 0)
        return NULL;
    const long end = ftell(file);
    if (end < 0 || fseek(file, 0, SEEK_SET) != 0)
        return NULL;
    char *bytes = malloc((size_t)end + 1);
    if (bytes == NULL)
        return NULL;
    if (fread(bytes, 1, (size_t)end, file) != (size_t)end) {
        free(bytes);
        return NULL;
    }
    bytes[end] = '\0';
    *size = (size_t)end;
    return bytes;
}

char *data_read_file(const char *folder, const char *name, size_t *size)
{
    char path[4096];
    const int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof(path) ? fopen(path, "rb") : NULL;
    char *bytes = file != NULL ? read_stream(file, size) : NULL;
    if (bytes == NULL)
        fprintf(stderr, "digits: cannot read %s/%s\n", folder, name);
    if (file != NULL)
        fclose(file);
    return bytes;
}

int data_read_weights(struct weights *weights, const char *folder)
{
    static const size_t sizes[TENSOR_COUNT] = {
        CONV1 * 9, CONV1, CONV2 * CONV1 * 9, CONV2, HIDDEN * POOLED, HIDDEN, CLASSES * HIDDEN, CLASSES,
    };
    static const uint32_t shape[4] = {CONV1, CONV2, HIDDEN, CLASSES};
    const size_t header = MARK_SIZE + sizeof(shape);
    size_t total = 0, size = 0;
    for (size_t i = 0; i < TENSOR_COUNT; ++i)
        total += sizes[i];

    char *bytes = data_read_file(folder, "weights.bin", &size);
    if (bytes == NULL)
        return -1;
    int right = size == header + total * 4 && memcmp(bytes, "DIGITSW1", MARK_SIZE) == 0;
    for (size_t i = 0; right && i < 4; ++i)
        right = read_u32(bytes + MARK_SIZE + i * 4) == shape[i];
    weights->values = right ? malloc(total * sizeof(float)) : NULL;
    if (weights->values != NULL) {
        for (size_t i = 0; i < total; ++i)
            weights->values[i] = read_float(bytes + header + i * 4);
        const float *next = weights->values;
        for (size_t i = 0; i < TENSOR_COUNT; next += sizes[i++]) {
            weights->tensors[i] = next;
            weights->sizes[i] = sizes[i];
        }
    } else {
        fprintf(stderr, "digits: weights.bin is not of this network\n");
    }
    free(bytes);
    return weights->values != NULL ? 0 : -1;
}

int data_read_images(struct images *images, const char *folder)
{
    const size_t header = MARK_SIZE + 4, record = PIXELS + 1;
    size_t size = 0;
    char *bytes = data_read_file(folder, "images.bin", &size);
    if (bytes == NULL)
        return -1;
    if (size > header && memcmp(bytes, "DIGITSI1", MARK_SIZE) == 0)
        images->count = read_u32(bytes + MARK_SIZE);
    if (images->count > 0 && (size - header) / record == images->count && (size - header) % record == 0) {
        images->pixels = malloc(images->count * PIXELS);
        images->labels = malloc(images->count);
    }
    const int right = images->pixels != NULL && images->labels != NULL;
    for (size_t i = 0; right && i < images->count; ++i) {
        const char *from = bytes + header + i * record;
        memcpy(images->pixels + i * PIXELS, from, PIXELS);
        images->labels[i] = (uint8_t)from[PIXELS];
    }
    if (!right)
        fprintf(stderr, "digits: images.bin holds no images\n");
    free(bytes);
    return right ? 0 : -1;
}

void data_free_weights(struct weights *weights)
{
    free(weights->values);
}

void data_free_images(struct images *images)
{
    free(images->pixels);
    free(images->labels);
}

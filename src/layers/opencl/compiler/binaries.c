/*
 * binaries.c - the driver's whole binaries of a program; see binaries.h.
 */
#include "layers/opencl/compiler/binaries.h"

#include <stdlib.h>
#include <string.h>

#include "layers/common/settings.h"
#include "layers/opencl/compiler/side_entry.h"

#define KIND "opencl-binaries"

struct binaries {
    uint8_t *bytes; /* all binaries, one after another */
    size_t count;
    size_t sizes[];
};

void binaries_destroy(struct binaries *binaries)
{
    if (binaries == NULL)
        return;
    free(binaries->bytes);
    free(binaries);
}

/* Returns an object with `count` sizes that the caller sets, or NULL if memory runs out. */
static struct binaries *create_binaries(size_t count)
{
    struct binaries *binaries = calloc(1, sizeof(*binaries) + count * sizeof(size_t));
    if (binaries != NULL)
        binaries->count = count;
    return binaries;
}

static size_t total_of(const struct binaries *binaries)
{
    size_t total = 0;
    for (size_t i = 0; i < binaries->count; ++i)
        total += binaries->sizes[i];
    return total;
}

/* Stores the whole binaries, because the program's blob has only what a load needs. */
static void store_binaries(const_ingot_program_desc_t desc, const struct binaries *binaries)
{
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    ingot_artifact_part_t *parts = calloc(binaries->count, sizeof(*parts));
    if (parts == NULL)
        return;
    for (size_t i = 0; i < binaries->count; ++i)
        parts[i] = (ingot_artifact_part_t){"binary", binaries->sizes[i]};
    info.label = "CL_PROGRAM_BINARIES";
    info.part_count = binaries->count;
    info.parts = parts;
    side_entry_store(settings_store(), KIND, desc, &info, total_of(binaries), binaries->bytes);
    free(parts);
}

/* Lets the driver write its binaries into `binaries`, whose sizes are set. */
static bool read_program_binaries(cl_program native, struct binaries *binaries)
{
    unsigned char **places = calloc(binaries->count, sizeof(*places));
    binaries->bytes = malloc(total_of(binaries) + 1);
    bool is_read = places != NULL && binaries->bytes != NULL;
    unsigned char *place = binaries->bytes;
    for (size_t i = 0; i < binaries->count && is_read; ++i) {
        places[i] = place;
        place += binaries->sizes[i];
    }
    is_read = is_read && layer_target.clGetProgramInfo(native, CL_PROGRAM_BINARIES, binaries->count * sizeof(*places),
                                                       places, NULL) == CL_SUCCESS;
    free(places);
    return is_read;
}

struct binaries *binaries_read(const_ingot_program_desc_t desc, cl_program native)
{
    size_t size = 0;
    if (layer_target.clGetProgramInfo(native, CL_PROGRAM_BINARY_SIZES, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return NULL;
    struct binaries *binaries = create_binaries(size / sizeof(size_t));
    if (binaries != NULL &&
        layer_target.clGetProgramInfo(native, CL_PROGRAM_BINARY_SIZES, size, binaries->sizes, NULL) == CL_SUCCESS &&
        read_program_binaries(native, binaries)) {
        store_binaries(desc, binaries);
        return binaries;
    }
    binaries_destroy(binaries);
    return NULL;
}

struct binaries *binaries_load(const_ingot_program_desc_t desc, cl_uint device_count)
{
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    struct binaries *binaries = NULL;
    if (side_entry_load(settings_store(), KIND, desc, &value) != INGOT_SUCCESS)
        return NULL;
    if (ingot_artifact_get_info(&value, &info) == INGOT_SUCCESS && info.part_count == device_count)
        binaries = create_binaries(info.part_count);
    for (size_t i = 0; binaries != NULL && i < binaries->count; ++i)
        binaries->sizes[i] = (size_t)info.parts[i].size;
    if (binaries != NULL)
        binaries->bytes = malloc(value.size + 1);
    if (binaries != NULL && binaries->bytes != NULL && value.size > 0)
        memcpy(binaries->bytes, value.bytes, value.size);
    if (value.release != NULL)
        value.release(&value);
    if (binaries == NULL || binaries->bytes != NULL)
        return binaries;
    binaries_destroy(binaries);
    return NULL;
}

cl_int binaries_answer(const struct binaries *binaries, cl_program_info name, size_t capacity, void *value,
                       size_t *size_ret)
{
    const uint8_t *bytes = binaries->bytes;
    unsigned char **places = value;
    if (name == CL_PROGRAM_BINARY_SIZES)
        return layer_answer(binaries->count * sizeof(size_t), binaries->sizes, capacity, value, size_ret);
    if (value != NULL && capacity < binaries->count * sizeof(*places))
        return CL_INVALID_VALUE;
    for (size_t i = 0; i < binaries->count; ++i) {
        if (places != NULL && places[i] != NULL)
            memcpy(places[i], bytes, binaries->sizes[i]);
        bytes += binaries->sizes[i];
    }
    if (size_ret != NULL)
        *size_ret = binaries->count * sizeof(*places);
    return CL_SUCCESS;
}

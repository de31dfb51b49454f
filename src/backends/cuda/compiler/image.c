/*
 * image.c - writes and reads a program's binary: the lowered names of its name expressions, and a cubin.
 *
 * The lowered names are stored, because only NVRTC knows them, and only right after a compilation. The cubin is aligned
 * to 8 bytes, because its tables require it.
 */
#include "backends/cuda/compiler/image.h"

#include "backends/cuda/compiler/cubin.h"
#include "util/little_endian.h"

#include <string.h>

#define IMAGE_MAGIC "INGOTCUD"
#define MAGIC_SIZE 8u
#define NUMBER_SIZE 8u
#define HEAD_SIZE (MAGIC_SIZE + 2 * NUMBER_SIZE)
#define ALIGNMENT 8u

ingot_status_t cuda_bytes_init(struct cuda_bytes *bytes, const ingot_allocator_t *allocator, size_t size)
{
    bytes->size = 0;
    bytes->bytes = ingot_allocate(allocator, size);
    if (bytes->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    bytes->size = size;
    return INGOT_SUCCESS;
}

void cuda_bytes_fini(struct cuda_bytes *bytes, const ingot_allocator_t *allocator)
{
    ingot_deallocate(allocator, bytes->bytes, bytes->size);
    bytes->bytes = NULL;
    bytes->size = 0;
}

static uint64_t pad_head_size(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static ingot_status_t refuse_binary(const char *why)
{
    return ingot_set_error_detail(INGOT_BLOB_REJECTED, "not a binary of the CUDA backend: %s", why);
}

/* True if the bytes are exactly `count` strings, each of which ends in a NUL. */
static bool are_texts(uint64_t count, size_t size, const char *texts)
{
    const char *const end = texts + size;
    for (; count > 0 && texts < end; --count) {
        const char *nul = memchr(texts, '\0', (size_t)(end - texts));
        if (nul == NULL)
            return false;
        texts = nul + 1;
    }
    return count == 0 && texts == end;
}

ingot_status_t cuda_image_read(struct cuda_image *image, size_t size, const uint8_t *bytes)
{
    memset(image, 0, sizeof(*image));
    image->cubin = bytes;
    image->cubin_size = size;
    if (size >= HEAD_SIZE && memcmp(bytes, IMAGE_MAGIC, MAGIC_SIZE) == 0) {
        const uint64_t count = le_get_u64(bytes + MAGIC_SIZE);
        const uint64_t texts_size = le_get_u64(bytes + MAGIC_SIZE + NUMBER_SIZE);
        const char *texts = (const char *)bytes + HEAD_SIZE;
        if (count == 0 || count > size || texts_size > size - HEAD_SIZE ||
            pad_head_size(HEAD_SIZE + texts_size) > size || !are_texts(2 * count, (size_t)texts_size, texts))
            return refuse_binary("its table of names is malformed");
        const size_t head_size = (size_t)pad_head_size(HEAD_SIZE + texts_size);
        image->expression_count = (size_t)count;
        image->texts = texts;
        image->cubin = bytes + head_size;
        image->cubin_size = size - head_size;
    }
    if (!cuda_cubin_is_one(image->cubin_size, image->cubin))
        return refuse_binary("it holds no machine code for a GPU");
    if (!cuda_cubin_is_whole(image->cubin_size, image->cubin))
        return refuse_binary("a part of its machine code is missing");
    return INGOT_SUCCESS;
}

const char *cuda_image_lowered_name(const struct cuda_image *image, const char *expression)
{
    const char *text = image->texts;
    for (size_t i = 0; i < image->expression_count; ++i) {
        const char *lowered_name = text + strlen(text) + 1;
        if (strcmp(text, expression) == 0)
            return lowered_name;
        text = lowered_name + strlen(lowered_name) + 1;
    }
    return NULL;
}

bool cuda_image_has_expressions(const struct cuda_image *image, size_t count, const char *const *expressions)
{
    const char *text = image->texts;
    if (image->expression_count != count)
        return false;
    for (size_t i = 0; i < count; ++i) { /* the image's expressions and the request's are sorted */
        if (strcmp(text, expressions[i]) != 0)
            return false;
        text += strlen(text) + 1; /* skip to the lowered name */
        text += strlen(text) + 1;
    }
    return true;
}

struct name_list {
    const struct cuda_image *image;
    ingot_sink_t *names;
};

/* Writes a kernel's own name, and each of its expressions that differs from this name. */
static ingot_status_t write_kernel(void *user, const char *name)
{
    const struct name_list *list = user;
    const char *text = list->image->texts;
    ingot_status_t status = ingot_sink_write(list->names, strlen(name) + 1, name);
    for (size_t i = 0; i < list->image->expression_count && status == INGOT_SUCCESS; ++i) {
        const char *lowered_name = text + strlen(text) + 1;
        if (strcmp(lowered_name, name) == 0 && strcmp(text, name) != 0)
            status = ingot_sink_write(list->names, strlen(text) + 1, text);
        text = lowered_name + strlen(lowered_name) + 1;
    }
    return status;
}

ingot_status_t cuda_image_write_kernel_names(const struct cuda_image *image, ingot_sink_t *names)
{
    struct name_list list = {image, names};
    return cuda_cubin_for_each_kernel(image->cubin_size, image->cubin, write_kernel, &list);
}

ingot_status_t cuda_image_write_head(struct cuda_bytes *head, const ingot_allocator_t *allocator, size_t count,
                                     const char *const *expressions, const char *const *lowered_names)
{
    size_t texts_size = 0;
    for (size_t i = 0; i < count; ++i)
        texts_size += strlen(expressions[i]) + strlen(lowered_names[i]) + 2;
    const ingot_status_t status = cuda_bytes_init(head, allocator, (size_t)pad_head_size(HEAD_SIZE + texts_size));
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(head->bytes, IMAGE_MAGIC, MAGIC_SIZE);
    le_put_u64(head->bytes + MAGIC_SIZE, count);
    le_put_u64(head->bytes + MAGIC_SIZE + NUMBER_SIZE, texts_size);
    char *place = (char *)head->bytes + HEAD_SIZE;
    for (size_t i = 0; i < count; ++i) {
        const char *const texts[] = {expressions[i], lowered_names[i]};
        for (size_t t = 0; t < 2; ++t) {
            const size_t size = strlen(texts[t]) + 1;
            memcpy(place, texts[t], size);
            place += size;
        }
    }
    return INGOT_SUCCESS;
}

ingot_status_t cuda_image_join(struct cuda_bytes *image, const ingot_allocator_t *allocator,
                               const struct cuda_bytes *head, struct cuda_bytes *cubin)
{
    if (head->size == 0) {
        *image = *cubin;
        cubin->bytes = NULL;
        cubin->size = 0;
        return INGOT_SUCCESS;
    }
    const ingot_status_t status = cuda_bytes_init(image, allocator, head->size + cubin->size);
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(image->bytes, head->bytes, head->size);
    memcpy(image->bytes + head->size, cubin->bytes, cubin->size);
    return INGOT_SUCCESS;
}

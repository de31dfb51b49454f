/*
 * backend.c - the backend's table of operations, and the function that creates a context.
 *
 * A program has one part per device: the bytes that the compiler wrote, which are its binary, and an image, which
 * is the same code loaded into memory. No object changes after its creation, so there are no locks.
 */
#include "tinycc.h"

#include <libtcc.h>
#include <stdlib.h>
#include <string.h>

#include <ingot/backend.h>

#include "compile.h"
#include "image.h"

struct state {
    ingot_allocator_t allocator; /* the context's allocator, so that the user's allocator counts this memory */
    uint32_t device_count;
    tinycc_device_t devices[];
};

struct part {
    uint32_t device_index;
    uint8_t *bytes; /* malloc'ed */
    size_t size;
    struct image *image;
};

struct program {
    size_t part_count;
    struct part parts[];
};

static const ingot_backend_ops_t operations;

static size_t state_size(uint32_t device_count)
{
    return sizeof(struct state) + device_count * sizeof(tinycc_device_t);
}

static void destroy(void *self)
{
    struct state *state = self;
    const ingot_allocator_t allocator = state->allocator;

    ingot_deallocate(&allocator, state, state_size(state->device_count));
}

/* ---- device identity ---- */

static ingot_status_t identify_device(void *self, uint32_t device_index, ingot_identity_t *identity)
{
    static const char target[] = "x86_64-linux";
    const struct state *state = self;
    const uint32_t lanes = state->devices[device_index].lanes;
    const uint8_t lanes_byte = (uint8_t)lanes;

    ingot_status_t status = ingot_identity_add(identity, "target", sizeof(target) - 1, target);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add(identity, "lanes", sizeof(lanes_byte), &lanes_byte);
    /* Debian's libtcc is a static library, so its build-id is that of the program that contains it. */
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_compiler(identity, (const void *)(uintptr_t)tcc_new, NULL);
    return status;
}

static int accepts(void *self, ingot_source_kind_t kind)
{
    (void)self;
    return kind == TINYCC_SOURCE_C;
}

/* ---- programs ---- */

static size_t program_size(size_t part_count)
{
    return sizeof(struct program) + part_count * sizeof(struct part);
}

static void destroy_program(void *self, void *made)
{
    struct program *program = made;

    for (size_t i = 0; i < program->part_count; ++i) {
        image_unload(program->parts[i].image);
        free(program->parts[i].bytes);
    }
    ingot_deallocate(&((struct state *)self)->allocator, program, program_size(program->part_count));
}

static struct program *alloc_program(const struct state *state, size_t count, const uint32_t *device_indices)
{
    struct program *program = ingot_allocate(&state->allocator, program_size(count));

    if (program == NULL)
        return NULL;
    program->part_count = count;
    for (size_t i = 0; i < count; ++i)
        program->parts[i].device_index = device_indices[i];
    return program;
}

static ingot_status_t build(void *self, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **out)
{
    struct state *state = self;
    struct program *program = alloc_program(state, device_count, device_indices);
    ingot_status_t status = INGOT_SUCCESS;

    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    for (size_t i = 0; status == INGOT_SUCCESS && i < device_count; ++i) {
        struct part *part = &program->parts[i];
        status = compile(request, state->devices[part->device_index].lanes, log, &part->bytes, &part->size);
        if (status == INGOT_SUCCESS)
            status = image_load(&part->image, part->bytes, part->size);
    }
    if (status != INGOT_SUCCESS) {
        destroy_program(state, program);
        return status;
    }
    *out = program;
    return INGOT_SUCCESS;
}

static ingot_status_t load_part(struct part *part, const ingot_binary_t *binary)
{
    part->bytes = malloc(binary->size > 0 ? binary->size : 1);
    if (part->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of code", binary->size);
    if (binary->size > 0)
        memcpy(part->bytes, binary->bytes, binary->size);
    part->size = binary->size;
    const ingot_status_t status = image_load(&part->image, part->bytes, part->size);
    return status == INGOT_BUILD_FAILED ? INGOT_BLOB_REJECTED : status; /* nothing was built, so the blob is at fault */
}

static ingot_status_t load(void *self, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **out)
{
    struct program *program = alloc_program(self, device_count, device_indices);
    ingot_status_t status = INGOT_SUCCESS;

    (void)request;
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    for (size_t i = 0; status == INGOT_SUCCESS && i < device_count; ++i)
        status = load_part(&program->parts[i], &binaries[i]);
    if (status != INGOT_SUCCESS) {
        destroy_program(self, program);
        return status;
    }
    *out = program;
    return INGOT_SUCCESS;
}

static const struct part *part_of(const struct program *program, uint32_t device_index)
{
    for (size_t i = 0; i < program->part_count; ++i) {
        if (program->parts[i].device_index == device_index)
            return &program->parts[i];
    }
    return NULL;
}

static ingot_status_t get_binary(void *self, void *program, uint32_t device_index, ingot_sink_t *binary)
{
    const struct part *part = part_of(program, device_index);

    (void)self;
    if (part == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "no code for device %u", (unsigned)device_index);
    return ingot_sink_write(binary, part->size, part->bytes);
}

static ingot_status_t get_kernel_names(void *self, void *program, ingot_sink_t *names)
{
    (void)self;
    return image_write_kernel_names(((const struct program *)program)->parts[0].image, names);
}

static size_t get_program_size(void *self, void *made)
{
    const struct program *program = made;
    size_t size = 0;

    (void)self;
    for (size_t i = 0; i < program->part_count; ++i)
        size += program->parts[i].size;
    return size;
}

/* ---- kernels: a kernel is an address and needs no object ---- */

static ingot_status_t create_kernel(void *self, void *program, uint32_t device_index, const char *name, void **kernel)
{
    const struct part *part = part_of(program, device_index);

    (void)self;
    if (part == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "no code for device %u", (unsigned)device_index);
    *kernel = image_find_kernel(part->image, name);
    return *kernel != NULL ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_NOT_FOUND, "no function kernel_%s", name);
}

static void destroy_kernel(void *self, void *kernel)
{
    (void)self;
    (void)kernel;
}

static const ingot_backend_ops_t operations = {
    .struct_size = sizeof(operations),
    .name = "tinycc",
    .destroy = destroy,
    .identify_device = identify_device,
    .accepts = accepts,
    .build = build,
    .destroy_program = destroy_program,
    .get_kernel_names = get_kernel_names,
    .get_binary = get_binary,
    .load = load,
    .create_kernel = create_kernel,
    .destroy_kernel = destroy_kernel,
    .get_program_size = get_program_size,
};

/* ---- the interface to users ---- */

ingot_status_t tinycc_context_create(ingot_context_t *context, uint32_t device_count, const tinycc_device_t *devices,
                                     const ingot_context_info_t *info)
{
    const ingot_allocator_t allocator = ingot_context_info_get_allocator(info);

    if (device_count == 0 || devices == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "no devices");
    for (uint32_t i = 0; i < device_count; ++i) {
        if (devices[i].lanes < 1 || devices[i].lanes > 64)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device %u has %u lanes, not 1 to 64", (unsigned)i,
                                          (unsigned)devices[i].lanes);
    }
    struct state *state = ingot_allocate(&allocator, state_size(device_count));
    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the backend's state");
    state->allocator = allocator;
    state->device_count = device_count;
    memcpy(state->devices, devices, device_count * sizeof(*devices));
    const ingot_status_t status = ingot_context_create(context, &operations, state, device_count, info);
    if (status != INGOT_SUCCESS)
        destroy(state);
    return status;
}

ingot_status_t tinycc_kernel_get_function(const_ingot_kernel_t kernel, tinycc_function_t *function)
{
    void *address = ingot_kernel_get_backend_kernel(kernel, &operations);

    if (address == NULL || function == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "no kernel of this backend, or no place for a function");
    memcpy(function, &address, sizeof(*function)); /* ISO C cannot cast an object pointer to a function pointer */
    return INGOT_SUCCESS;
}

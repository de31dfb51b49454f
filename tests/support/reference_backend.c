/*
 * reference_backend.c - the operations of the reference backend; see reference_backend.h.
 *
 * A program consists of one binary per device, which is kept and run as reference_compiler.c made it.
 */
#include "reference_backend.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference_compiler.h"

#define SHARED_SIZE 256

struct state {
    reference_info_t info;
    char **targets;
    char *driver_version;
};

struct program {
    size_t device_count;
    uint32_t *devices;
    struct reference_code *codes;
};

struct kernel {
    const struct reference_code *code; /* the program outlives its kernels */
    size_t offset;
};

static const ingot_backend_ops_t operations;

static void count(struct state *state, size_t offset, int64_t change)
{
    if (state->info.counts == NULL)
        return;
    char *place = (char *)state->info.counts + offset;
    __atomic_fetch_add((int64_t *)(void *)place, change, __ATOMIC_SEQ_CST);
}
#define COUNT(state, field, change) count((state), offsetof(reference_counts_t, field), (change))

static ingot_status_t ask_hook(struct state *state, const char *operation)
{
    if (state->info.hook == NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = state->info.hook(state->info.hook_user, operation);
    return status == INGOT_SUCCESS ? status : ingot_set_error_detail(status, "the hook failed %s", operation);
}

static int has_fault(const struct state *state, const char *fault)
{
    return state->info.fault != NULL && strcmp(state->info.fault, fault) == 0;
}

static void free_state(struct state *state)
{
    for (uint32_t i = 0; state->targets != NULL && i < state->info.device_count; ++i)
        free(state->targets[i]);
    free(state->targets);
    free(state->driver_version);
    free(state);
}

static void destroy(void *self)
{
    COUNT(self, states_destroyed, 1);
    free_state(self);
}

static ingot_status_t identify_device(void *self, uint32_t device, ingot_identity_t *identity)
{
    struct state *state = self;

    COUNT(state, identifications, 1);
    ingot_status_t status = ask_hook(state, "identify");
    if (status == INGOT_SUCCESS && !has_fault(state, "device"))
        status = ingot_identity_add(identity, "device_name", strlen(state->targets[device]), state->targets[device]);
    if (status == INGOT_SUCCESS && !has_fault(state, "driver"))
        status = ingot_identity_add(identity, "driver_version", strlen(state->driver_version), state->driver_version);
    return status;
}

static ingot_status_t get_device_info(void *self, uint32_t device, ingot_device_info_t *info)
{
    const struct state *state = self;

    (void)device;
    info->generates_code_at_launch = state->info.generates_code_at_launch;
    return INGOT_SUCCESS;
}

static int accepts(void *self, ingot_source_kind_t kind)
{
    (void)self;
    return kind == REFERENCE_SOURCE_KIND || kind == INGOT_SOURCE_OWN_BINARY;
}

static void free_program(struct program *program)
{
    for (size_t i = 0; program->codes != NULL && i < program->device_count; ++i)
        free(program->codes[i].bytes);
    free(program->codes);
    free(program->devices);
    free(program);
}

static struct program *alloc_program(size_t device_count, const uint32_t *devices)
{
    struct program *program = calloc(1, sizeof(*program));

    if (program == NULL)
        return NULL;
    program->device_count = device_count;
    program->devices = malloc(device_count * sizeof(*program->devices));
    program->codes = calloc(device_count, sizeof(*program->codes));
    if (program->devices == NULL || program->codes == NULL) {
        free_program(program);
        return NULL;
    }
    memcpy(program->devices, devices, device_count * sizeof(*program->devices));
    return program;
}

/* Replaces the options by those in a place that all threads share. */
static void share_options(ingot_build_request_t *request)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the race is between calls, not between bytes */
    static char shared[SHARED_SIZE];
    static _Thread_local char own[SHARED_SIZE];

    (void)pthread_mutex_lock(&lock);
    (void)snprintf(shared, sizeof(shared), "%s", request->compile_options);
    (void)pthread_mutex_unlock(&lock);
    (void)poll(NULL, 0, 20);
    (void)pthread_mutex_lock(&lock);
    memcpy(own, shared, sizeof(own));
    (void)pthread_mutex_unlock(&lock);
    request->compile_options = own;
}

/* Changes the request as the planted fault says. */
static ingot_build_request_t spoil(const struct state *state, const ingot_build_request_t *request)
{
    ingot_build_request_t spoiled = *request;

    if (has_fault(state, "headers"))
        spoiled.header_count = 0;
    if (has_fault(state, "options"))
        spoiled.compile_options = "";
    if (has_fault(state, "constants"))
        spoiled.spec_constant_count = 0;
    if (has_fault(state, "race"))
        share_options(&spoiled);
    return spoiled;
}

static ingot_status_t build(void *self, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *devices, ingot_sink_t *log, void **out)
{
    struct state *state = self;

    ingot_status_t status = ask_hook(state, "build");
    if (status != INGOT_SUCCESS)
        return status;
    struct program *program = alloc_program(device_count, devices);
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    const ingot_build_request_t spoiled = spoil(state, request);
    for (size_t i = 0; status == INGOT_SUCCESS && i < device_count; ++i) {
        COUNT(state, builds, 1);
        status = reference_compile(&program->codes[i], &spoiled, state->targets[devices[i]], log);
    }
    if (status == INGOT_BUILD_FAILED && has_fault(state, "failure"))
        status = INGOT_BACKEND_ERROR;
    if (status != INGOT_SUCCESS) {
        free_program(program);
        return status;
    }
    COUNT(state, live_programs, 1);
    *out = program;
    return INGOT_SUCCESS;
}

static ingot_status_t load_code(const struct state *state, struct reference_code *code, const ingot_binary_t *binary,
                                uint32_t device)
{
    char target[REFERENCE_TARGET_SIZE + 1] = "";

    if (!has_fault(state, "foreign") || binary->size < REFERENCE_TARGET_AT + REFERENCE_TARGET_SIZE)
        return reference_code_copy(code, binary->size, binary->bytes, state->targets[device]);
    memcpy(target, (const uint8_t *)binary->bytes + REFERENCE_TARGET_AT, REFERENCE_TARGET_SIZE);
    return reference_code_copy(code, binary->size, binary->bytes, target);
}

static ingot_status_t load(void *self, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *devices, const ingot_binary_t *binaries, void **out)
{
    struct state *state = self;

    (void)request;
    ingot_status_t status = ask_hook(state, "load");
    if (status != INGOT_SUCCESS)
        return status;
    struct program *program = alloc_program(device_count, devices);
    if (program == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a program");
    for (size_t i = 0; status == INGOT_SUCCESS && i < device_count; ++i) {
        status = load_code(state, &program->codes[i], &binaries[i], devices[i]);
        if (status == INGOT_BLOB_REJECTED && has_fault(state, "anything"))
            status = INGOT_SUCCESS;
    }
    if (status != INGOT_SUCCESS) {
        free_program(program);
        return status;
    }
    COUNT(state, loads, 1);
    COUNT(state, live_programs, 1);
    *out = program;
    return INGOT_SUCCESS;
}

static void destroy_program(void *self, void *program)
{
    COUNT(self, live_programs, -1);
    free_program(program);
}

static const struct reference_code *code_of(const struct program *program, uint32_t device)
{
    for (size_t i = 0; i < program->device_count; ++i) {
        if (program->devices[i] == device)
            return &program->codes[i];
    }
    return NULL;
}

static ingot_status_t get_binary(void *self, void *program, uint32_t device, ingot_sink_t *binary)
{
    struct state *state = self;
    const struct reference_code *code = code_of(program, device);

    COUNT(state, binaries_taken, 1);
    const ingot_status_t status = ask_hook(state, "get_binary");
    if (status != INGOT_SUCCESS)
        return status;
    if (code == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "no code for device %u", (unsigned)device);
    for (uint32_t i = 0; state->info.launched_bytes != NULL && i < *state->info.launched_bytes; ++i)
        (void)ingot_sink_write(binary, 1, "");
    return ingot_sink_write(binary, code->size - (size_t)has_fault(state, "binary"), code->bytes);
}

static ingot_status_t get_kernel_names(void *self, void *program, ingot_sink_t *names)
{
    if (has_fault(self, "names"))
        return INGOT_SUCCESS;
    return reference_code_names(&((const struct program *)program)->codes[0], names);
}

static ingot_status_t create_kernel(void *self, void *program, uint32_t device, const char *name, void **out)
{
    struct state *state = self;
    const struct reference_code *code = code_of(program, device);
    size_t offset = 0;

    ingot_status_t status = ask_hook(state, "create_kernel");
    if (status == INGOT_SUCCESS)
        status = code != NULL ? reference_code_find(code, name, &offset) : INGOT_INVALID_ARGUMENTS;
    if (status != INGOT_SUCCESS)
        return status;
    struct kernel *kernel = malloc(sizeof(*kernel));
    if (kernel == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a kernel");
    *kernel = (struct kernel){code, offset};
    COUNT(state, live_kernels, 1);
    *out = kernel;
    return INGOT_SUCCESS;
}

static void destroy_kernel(void *self, void *kernel)
{
    COUNT(self, live_kernels, -1);
    free(kernel);
}

static size_t get_program_size(void *self, void *program)
{
    const struct program *known = program;
    size_t size = 0;

    (void)self;
    for (size_t i = 0; i < known->device_count; ++i)
        size += known->codes[i].size;
    return size;
}

static const ingot_backend_ops_t operations = {
    .struct_size = sizeof(operations),
    .name = "reference",
    .destroy = destroy,
    .identify_device = identify_device,
    .get_device_info = get_device_info,
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

static int takes_name_expressions(void *state)
{
    (void)state;
    return 1;
}

ingot_status_t reference_context_create(ingot_context_t *context, const reference_info_t *info,
                                        const ingot_context_info_t *context_info)
{
    ingot_backend_ops_t ops = operations;
    struct state *state = calloc(1, sizeof(*state));

    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the backend's state");
    state->info = *info;
    state->driver_version = strdup(info->driver_version != NULL ? info->driver_version : "1");
    state->targets = calloc(info->device_count, sizeof(*state->targets));
    for (uint32_t i = 0; state->targets != NULL && i < info->device_count; ++i)
        state->targets[i] = strdup(info->targets[i]);
    ops.takes_name_expressions = info->name_expressions ? takes_name_expressions : NULL;
    if (info->name != NULL)
        ops.name = info->name;
    if (info->no_binaries) {
        ops.get_binary = NULL;
        ops.load = NULL;
    }
    const ingot_status_t status = ingot_context_create(context, &ops, state, info->device_count, context_info);
    if (status != INGOT_SUCCESS)
        free_state(state);
    return status;
}

ingot_status_t reference_kernel_run(const_ingot_kernel_t kernel, int64_t x, int64_t *result)
{
    const struct kernel *known = ingot_kernel_get_backend_kernel(kernel, &operations);

    if (known == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "no kernel of the reference backend");
    return reference_code_run(known->code, known->offset, x, result);
}

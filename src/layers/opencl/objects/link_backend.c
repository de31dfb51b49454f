/*
 * link_backend.c - the Ingot backend for programs that clLinkProgram makes.
 *
 * A blob consists of facts and the binary. Facts are the driver's answers to queries that a program created from the
 * binary might answer differently. The binary is stored as the driver returns it, because applications may ask for it.
 */
#include "layers/opencl/objects/link_backend.h"

#include <stdlib.h>
#include <string.h>

#include "layers/common/statistics.h"
#include "util/little_endian.h"
#include "util/pocl_cache.h"
#include "util/pocl_names.h"

#define RECOMPILED_MARK "recompiled-from-ir"
#define MAX_FACT (16u << 20)
#define FACT_HEADER 8u /* the error and the size */

static const char key_mark[] = "clLinkProgram 1"; /* the key includes the NUL */
static const cl_program_info fact_names[FACT_COUNT] = {CL_PROGRAM_SOURCE, CL_PROGRAM_IL};
static _Thread_local struct link_call *current;

void link_set_call(struct link_call *call)
{
    current = call;
}

/* ---- the key: the mark, a byte (1: there are options), the options, and each object's id after its size ---- */

static void append(uint8_t **place, size_t size, const void *bytes)
{
    memcpy(*place, bytes, size);
    *place += size;
}

static ingot_status_t make_key(const struct link_call *call, size_t *size, uint8_t **key)
{
    const char *options = call->options != NULL ? call->options : "";
    const uint8_t has_options = call->options != NULL;
    *size = sizeof(key_mark) + 1 + strlen(options) + 1;
    for (size_t i = 0; i < call->object_count; ++i)
        *size += sizeof(uint64_t) + call->objects[i]->id_size;
    *key = malloc(*size);
    if (*key == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a key of %zu bytes", *size);
    uint8_t *place = *key;
    append(&place, sizeof(key_mark), key_mark);
    append(&place, 1, &has_options);
    append(&place, strlen(options) + 1, options);
    for (size_t i = 0; i < call->object_count; ++i) {
        le_put_u64(place, call->objects[i]->id_size);
        place += sizeof(uint64_t);
        append(&place, call->objects[i]->id_size, call->objects[i]->id);
    }
    return INGOT_SUCCESS;
}

/* Reads the options from a key. Returns false if the key is missing or malformed. */
static bool read_options(const ingot_build_request_t *request, const char **options)
{
    const ingot_source_view_t *key = request->sources;
    const char *bytes = request->source_count == 1 ? key->bytes : NULL;
    if (bytes == NULL || key->size < sizeof(key_mark) + 2 || memcmp(bytes, key_mark, sizeof(key_mark)) != 0 ||
        memchr(bytes + sizeof(key_mark) + 1, '\0', key->size - sizeof(key_mark) - 1) == NULL)
        return false;
    *options = bytes[sizeof(key_mark)] != 0 ? bytes + sizeof(key_mark) + 1 : NULL;
    return true;
}

ingot_status_t link_describe(ingot_context_t links, const struct link_call *call, ingot_program_desc_t *desc)
{
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_source_t source = NULL;
    uint8_t *key = NULL;
    ingot_status_t status = make_key(call, &source_info.size, &key);
    source_info.kind = INGOT_SOURCE_OWN_BINARY;
    source_info.bytes = key;
    if (status == INGOT_SUCCESS)
        status = ingot_source_create(&source, &source_info);
    info.sources = &source;
    info.source_count = 1;
    info.flags = INGOT_PROGRAM_NO_MEMORY_CACHE; /* each program has its own global variables */
    if (status == INGOT_SUCCESS)
        status = ingot_program_desc_create(desc, links, &info);
    ingot_source_release(source);
    free(key);
    return status;
}

/* ---- linking ---- */

ingot_status_t link_call_make(struct link_call *call)
{
    const uint64_t started_ns = statistics_clock_ns();
    cl_program *natives = calloc(call->object_count, sizeof(*natives));
    bool are_there = true;
    if (natives == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu programs to link", call->object_count);
    for (size_t i = 0; i < call->object_count && are_there; ++i)
        are_there = (natives[i] = object_get_native(call->objects[i])) != NULL;
    call->objects_ns += statistics_clock_ns() - started_ns;
    if (are_there) {
        call->was_made = true;
        call->native = layer_target.clLinkProgram(call->context, call->device_count, call->devices, call->options,
                                                  (cl_uint)call->object_count, natives, NULL, NULL, &call->error);
    }
    free(natives);
    return are_there ? INGOT_SUCCESS
                     : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "an object could not be compiled again");
}

static ingot_status_t note_fact(cl_program native, cl_program_info name, struct fact *fact)
{
    size_t size = 0;
    *fact = (struct fact){name, layer_target.clGetProgramInfo(native, name, 0, NULL, &size), 0, NULL};
    if (fact->error != CL_SUCCESS || size == 0)
        return INGOT_SUCCESS;
    fact->bytes = size <= MAX_FACT ? malloc(size) : NULL;
    if (fact->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    fact->size = (uint32_t)size;
    fact->error = layer_target.clGetProgramInfo(native, name, size, fact->bytes, NULL);
    return INGOT_SUCCESS;
}

static ingot_status_t note_facts(struct piece *piece)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < FACT_COUNT && status == INGOT_SUCCESS; ++i)
        status = note_fact(piece->native, fact_names[i], &piece->facts[i]);
    return status;
}

static ingot_status_t build(void *opaque, const ingot_build_request_t *request, size_t device_count,
                            const uint32_t *device_indices, ingot_sink_t *log, void **out)
{
    const struct piece_state *state = opaque;
    struct link_call *call = current;
    struct piece *piece = NULL;
    (void)request;
    (void)device_count;
    (void)device_indices;
    if (call == NULL || call->was_made)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "a program is linked by the application's own call only");
    ingot_status_t status = link_call_make(call);
    if (status != INGOT_SUCCESS)
        return status;
    if (call->error != CL_SUCCESS || call->native == NULL)
        return ingot_refuse_program(log, call->error, "clLinkProgram: %d", (int)call->error);
    status = piece_write_log(call->native, state->device, log);
    if (status != INGOT_SUCCESS)
        return status;
    (void)layer_target.clRetainProgram(call->native);
    status = piece_create(call->native, &piece);
    if (status == INGOT_SUCCESS)
        status = note_facts(piece);
    if (status != INGOT_SUCCESS) {
        piece_destroy(piece);
        return status;
    }
    atomic_store_explicit(&piece->is_taken, true, memory_order_relaxed); /* this thread owns it */
    *out = piece;
    return INGOT_SUCCESS;
}

/* ---- the binary ---- */

static ingot_status_t write_facts(const struct piece *piece, ingot_sink_t *binary)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < FACT_COUNT && status == INGOT_SUCCESS; ++i) {
        const struct fact *fact = &piece->facts[i];
        uint8_t header[FACT_HEADER];
        le_put_u32(header, (uint32_t)fact->error);
        le_put_u32(header + sizeof(uint32_t), fact->size);
        status = ingot_sink_write(binary, sizeof(header), header);
        if (status == INGOT_SUCCESS && fact->size > 0)
            status = ingot_sink_write(binary, fact->size, fact->bytes);
    }
    return status;
}

/* Fails if a kernel's name is too long for PoCL, which would end the process. */
static ingot_status_t check_names(cl_program native)
{
    size_t size = 0;
    cl_int error = layer_target.clGetProgramInfo(native, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size);
    char *names = calloc(1, size + 1);
    if (names == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the names of kernels");
    if (error == CL_SUCCESS)
        error = layer_target.clGetProgramInfo(native, CL_PROGRAM_KERNEL_NAMES, size, names, NULL);
    const bool do_fit = error == CL_SUCCESS && pocl_names_fit(names);
    free(names);
    if (error != CL_SUCCESS)
        return ingot_set_error(INGOT_BACKEND_ERROR, error, "CL_PROGRAM_KERNEL_NAMES: %d", (int)error);
    return do_fit ? INGOT_SUCCESS
                  : ingot_set_error_detail(INGOT_UNIMPLEMENTED, "a kernel's name has more than %u characters",
                                           POCL_LONGEST_NAME);
}

static ingot_status_t get_device_info(void *opaque, uint32_t device_index, ingot_device_info_t *info)
{
    const struct piece_state *state = opaque;
    return state->opencl_ops->get_device_info(state->opencl_state, device_index, info);
}

/* Fails if the driver's binary must not be stored. */
static ingot_status_t check_cache(void *state)
{
    ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
    const bool is_pocl = get_device_info(state, 0, &info) == INGOT_SUCCESS && info.generates_code_at_launch;
    return !is_pocl || !pocl_cache_is_off()
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "PoCL's cache is off (POCL_KERNEL_CACHE)");
}

/* Fails if the application has built the linked program again, so that its binary no longer is that of its id. */
static ingot_status_t check_unchanged(const struct piece *piece)
{
    return !atomic_load_explicit(&piece->is_changed, memory_order_acquire)
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_NOT_CACHEABLE, "the application built the linked program again");
}

static ingot_status_t get_binary(void *state, void *opaque, uint32_t device_index, ingot_sink_t *binary)
{
    const struct piece *piece = opaque;
    size_t size = 0;
    void *bytes = NULL;
    (void)device_index;
    ingot_status_t status = check_unchanged(piece);
    if (status == INGOT_SUCCESS)
        status = check_cache(state);
    if (status == INGOT_SUCCESS)
        status = check_names(piece->native);
    if (status != INGOT_SUCCESS)
        return status;
    cl_int error = layer_target.clGetProgramInfo(piece->native, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL);
    if (error != CL_SUCCESS || size == 0)
        return ingot_set_error(INGOT_BACKEND_ERROR, error, "CL_PROGRAM_BINARY_SIZES: %d", (int)error);
    status = write_facts(piece, binary);
    if (status == INGOT_SUCCESS)
        status = ingot_sink_reserve(binary, size, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    error = layer_target.clGetProgramInfo(piece->native, CL_PROGRAM_BINARIES, sizeof(bytes), (void *)&bytes, NULL);
    return error == CL_SUCCESS ? check_unchanged(piece) /* another thread may have built it meanwhile */
                               : ingot_set_error(INGOT_BACKEND_ERROR, error, "CL_PROGRAM_BINARIES: %d", (int)error);
}

/* Reads the facts at the start of `rest`, and moves `rest` past them. Returns false if they are malformed, if nothing
 * follows, or if out of memory. */
static bool read_facts(struct piece *piece, ingot_binary_t *rest)
{
    for (size_t i = 0; i < FACT_COUNT; ++i) {
        struct fact *fact = &piece->facts[i];
        if (rest->size < FACT_HEADER)
            return false;
        fact->name = fact_names[i];
        fact->error = (cl_int)le_get_u32(rest->bytes);
        fact->size = le_get_u32(rest->bytes + sizeof(uint32_t));
        *rest = (ingot_binary_t){rest->size - FACT_HEADER, rest->bytes + FACT_HEADER};
        if (fact->size > rest->size)
            return false;
        fact->bytes = fact->size > 0 ? malloc(fact->size) : NULL;
        if (fact->size > 0 && fact->bytes == NULL)
            return false;
        if (fact->size > 0)
            memcpy(fact->bytes, rest->bytes, fact->size);
        *rest = (ingot_binary_t){rest->size - fact->size, rest->bytes + fact->size};
    }
    return rest->size > 0;
}

/* True if the driver recompiled a binary. Intel's driver does so with a binary from another driver, and says so only
 * in the log. */
static bool was_recompiled(cl_program native, cl_device_id device)
{
    char *log = piece_read_log(native, device);
    const bool was = log == NULL || strstr(log, RECOMPILED_MARK) != NULL;
    free(log);
    return was;
}

static ingot_status_t load_native(const struct piece_state *state, const ingot_binary_t *binary, const char *options,
                                  cl_program *native)
{
    cl_int error = CL_SUCCESS;
    cl_int binary_status = CL_SUCCESS;
    const unsigned char *bytes = binary->bytes;
    *native = layer_target.clCreateProgramWithBinary(state->context, 1, &state->device, &binary->size, &bytes,
                                                     &binary_status, &error);
    if (*native == NULL || binary_status != CL_SUCCESS)
        return ingot_set_error(INGOT_BLOB_REJECTED, error, "clCreateProgramWithBinary: %d", (int)error);
    error = layer_target.clBuildProgram(*native, 1, &state->device, options, NULL, NULL);
    if (error != CL_SUCCESS)
        return ingot_set_error(INGOT_BLOB_REJECTED, error, "clBuildProgram of a binary: %d", (int)error);
    return !was_recompiled(*native, state->device)
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_BLOB_REJECTED, "the driver compiled the binary again");
}

static ingot_status_t load(void *opaque, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **out)
{
    const struct piece_state *state = opaque;
    ingot_binary_t rest = binaries[0];
    const char *options = NULL;
    struct piece *piece = NULL;
    (void)device_count;
    (void)device_indices;
    ingot_status_t status = piece_create(NULL, &piece);
    if (status == INGOT_SUCCESS && (!read_options(request, &options) || !read_facts(piece, &rest)))
        status = ingot_set_error_detail(INGOT_BLOB_REJECTED, "not a linked program");
    if (status == INGOT_SUCCESS)
        status = load_native(state, &rest, options, &piece->native);
    if (status == INGOT_SUCCESS) {
        *out = piece;
        piece = NULL;
    }
    piece_destroy(piece);
    return status;
}

static int accepts(void *state, ingot_source_kind_t kind)
{
    (void)state;
    return kind == INGOT_SOURCE_OWN_BINARY;
}

static ingot_backend_ops_t make_ops(void)
{
    ingot_backend_ops_t ops = {.name = "opencl_link",
                               .accepts = accepts,
                               .build = build,
                               .get_binary = get_binary,
                               .load = load,
                               .get_device_info = get_device_info};
    piece_complete_ops(&ops);
    return ops;
}

ingot_status_t piece_create_link_context(ingot_context_t *context, ingot_context_t opencl, cl_context native,
                                         cl_device_id device)
{
    const ingot_backend_ops_t ops = make_ops();
    return piece_create_context(context, &ops, opencl, native, device);
}

struct piece *piece_of_link(ingot_program_t program)
{
    const ingot_backend_ops_t ops = make_ops();
    return ingot_program_get_backend_program(program, &ops);
}

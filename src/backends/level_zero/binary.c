/*
 * binary.c - gets the binaries of a program, and makes a program from binaries.
 *
 * A device's binary is the binary of its module, as the driver returns it. If the device has several
 * modules, which are linked dynamically, its binary is PARTS_MAGIC, the number of modules, the size of each, and
 * their bytes. Numbers are 64-bit little-endian.
 *
 * What Intel's driver 22.43 does with bytes that are not its own, as observed:
 *  - A module's native binary contains only machine code. The driver refuses a binary for another generation of
 *    devices with ZE_RESULT_ERROR_INVALID_NATIVE_BINARY. It accepts one for another product of the same generation
 *    (tgllp, adlp) without a warning, so only the device's identity (identity.c) prevents such a load.
 *  - ocloc's device binaries also contain SPIR-V. The driver recompiles a binary for another device or driver from
 *    the SPIR-V, and says so only in the build log. This file treats that as a refusal.
 *  - Damaged bytes crash the process, so only verified bytes may be passed.
 *  - The driver ignores the build flags of a native binary, even unknown flags. This file passes them anyway.
 */
#include "backends/level_zero/program.h"
#include "util/little_endian.h"

#include <string.h>

#define RECOMPILED_MARK "recompiled-from-ir"
#define PARTS_MAGIC "INGOTZEM"
#define MAGIC_SIZE 8u
#define NUMBER_SIZE 8u

static ingot_status_t native_size(ze_module_handle_t module, size_t *size)
{
    const ze_result_t result = zeModuleGetNativeBinary(module, size, NULL);
    if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
        return level_zero_fail(INGOT_UNIMPLEMENTED, "zeModuleGetNativeBinary", result);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleGetNativeBinary", result);
    return *size > 0 ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the driver returned no binary");
}

static ingot_status_t write_module(ze_module_handle_t module, ingot_sink_t *binary)
{
    size_t size = 0;
    void *bytes = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (module == NULL) /* level_zero_take_module */
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the application has taken the module");
    ingot_status_t status = native_size(module, &size);
    if (status == INGOT_SUCCESS)
        status = ingot_sink_reserve(binary, size, &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    result = zeModuleGetNativeBinary(module, &size, bytes);
    return result == ZE_RESULT_SUCCESS ? INGOT_SUCCESS
                                       : level_zero_fail(INGOT_BACKEND_ERROR, "zeModuleGetNativeBinary", result);
}

static ingot_status_t write_parts_header(size_t count, const ze_module_handle_t *modules, ingot_sink_t *binary)
{
    void *bytes = NULL;
    ingot_status_t status = ingot_sink_reserve(binary, MAGIC_SIZE + NUMBER_SIZE * (count + 1), &bytes);
    if (status != INGOT_SUCCESS)
        return status;
    uint8_t *at = bytes;
    memcpy(at, PARTS_MAGIC, MAGIC_SIZE);
    le_put_u64(at + MAGIC_SIZE, count);
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        size_t size = 0;
        status = native_size(modules[i], &size);
        le_put_u64(at + MAGIC_SIZE + NUMBER_SIZE * (i + 1), size);
    }
    return status;
}

ingot_status_t level_zero_get_binary(void *state, void *opaque_program, uint32_t device_index, ingot_sink_t *binary)
{
    struct level_zero_program *program = opaque_program;
    const ze_module_handle_t *modules = level_zero_program_modules(program, device_index);
    ingot_status_t status = INGOT_SUCCESS;
    (void)state;
    if (modules == NULL)
        return INGOT_INVALID_ARGUMENTS;
    if (program->module_count > 1)
        status = write_parts_header(program->module_count, modules, binary);
    for (size_t i = 0; i < program->module_count && status == INGOT_SUCCESS; ++i)
        status = write_module(modules[i], binary);
    return status;
}

/* Returns the number of modules in a binary, or 0 if the numbers at its beginning are invalid. */
static size_t count_parts(const ingot_binary_t *binary)
{
    if (binary->size < MAGIC_SIZE + NUMBER_SIZE || memcmp(binary->bytes, PARTS_MAGIC, MAGIC_SIZE) != 0)
        return 1;
    const uint64_t count = le_get_u64(binary->bytes + MAGIC_SIZE);
    uint64_t left = binary->size - MAGIC_SIZE - NUMBER_SIZE;
    if (count > left / NUMBER_SIZE)
        return 0;
    left -= count * NUMBER_SIZE;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t size = le_get_u64(binary->bytes + MAGIC_SIZE + NUMBER_SIZE * (i + 1));
        if (size > left)
            return 0;
        left -= size;
    }
    return left == 0 ? (size_t)count : 0;
}

/* Returns one part of a binary whose number of parts is known. */
static ingot_binary_t get_part(const ingot_binary_t *binary, size_t count, size_t index)
{
    ingot_binary_t part = *binary;
    if (count == 1)
        return part;
    part.bytes += MAGIC_SIZE + NUMBER_SIZE * (count + 1);
    for (size_t i = 0; i <= index; ++i) {
        part.bytes += i > 0 ? part.size : 0;
        part.size = (size_t)le_get_u64(binary->bytes + MAGIC_SIZE + NUMBER_SIZE * (i + 1));
    }
    return part;
}

static ingot_status_t refuse_recompiled(const struct level_zero_state *state, ze_module_build_log_handle_t log)
{
    struct level_zero_text text = {NULL, 0};
    const ingot_status_t status = level_zero_take_log_text(state, log, &text);
    const bool recompiled = text.chars != NULL && strstr(text.chars, RECOMPILED_MARK) != NULL;
    level_zero_text_fini(state, &text);
    if (status == INGOT_SUCCESS && recompiled)
        return ingot_set_error_detail(INGOT_BLOB_REJECTED,
                                      "the driver compiled the binary again (" RECOMPILED_MARK ")");
    return status;
}

static ingot_status_t load_module(const struct level_zero_state *state, uint32_t device_index,
                                  const ingot_binary_t *binary, const char *flags, ze_module_handle_t *module)
{
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_NATIVE,
        .inputSize = binary->size,
        .pInputModule = binary->bytes,
        .pBuildFlags = flags,
    };
    ze_module_build_log_handle_t log = NULL;
    const ze_result_t result = zeModuleCreate(state->context, state->devices[device_index], &desc, module, &log);
    const ingot_status_t status = refuse_recompiled(state, log);
    if (result == ZE_RESULT_SUCCESS)
        return status;
    *module = NULL;
    return level_zero_fail(INGOT_BLOB_REJECTED, "zeModuleCreate of a native binary", result);
}

static ingot_status_t load_for_device(const struct level_zero_state *state, struct level_zero_program *program,
                                      size_t position, const ingot_binary_t *binary, const char *flags)
{
    const size_t count = program->module_count;
    ze_module_handle_t *modules = program->modules + position * count;
    ingot_status_t status = INGOT_SUCCESS;
    if (count_parts(binary) != count)
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "a binary does not have %zu modules", count);
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        const ingot_binary_t part = get_part(binary, count, i);
        status = load_module(state, program->device_indices[position], &part, flags, &modules[i]);
    }
    if (count == 1 || status != INGOT_SUCCESS)
        return status;
    status = level_zero_link_modules(state, count, modules, NULL);
    return status == INGOT_BACKEND_ERROR ? INGOT_BLOB_REJECTED : status;
}

ingot_status_t level_zero_load(void *opaque, const ingot_build_request_t *request, size_t device_count,
                               const uint32_t *device_indices, const ingot_binary_t *binaries, void **out)
{
    const struct level_zero_state *state = opaque;
    const size_t module_count = count_parts(&binaries[0]);
    struct level_zero_program *program = NULL;
    struct level_zero_text flags = {NULL, 0};
    ingot_status_t status = INGOT_SUCCESS;
    if (module_count == 0)
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "the sizes of a binary's modules do not add up to its size");
    status = level_zero_build_flags(state, request->compile_options, request->link_options, "", &flags);
    if (status == INGOT_SUCCESS)
        status = level_zero_program_create(state, device_count, device_indices, module_count, &program);
    for (size_t i = 0; i < device_count && status == INGOT_SUCCESS; ++i)
        status = load_for_device(state, program, i, &binaries[i], flags.chars);
    if (status == INGOT_SUCCESS) {
        *out = program;
        program = NULL;
    }
    level_zero_destroy_program(opaque, program);
    level_zero_text_fini(state, &flags);
    return status;
}

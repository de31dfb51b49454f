/*
 * context.c - creates an Ingot context for the application's own OpenCL context and devices.
 *
 * The native context belongs to the application. Ingot retains it and never configures it. The devices are in the
 * caller's order, but drivers list a program's devices in the native context's order. So each device's position in
 * the native context is stored, too.
 */
#include "backends/opencl/functions.h"
#include "backends/opencl/state.h"

#include <stdio.h>
#include <string.h>

/* Options of the OpenCL specification and of vendors. None of them names a file. */
static const char *const options[] = {
    "-cl-*",
    "-w",
    "-Werror",
    "-g",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-create-library",
    "-enable-link-options",
    "-spir-std=*",
    "-intel-*",
    "-ze-*",
    "-nv-*",
    NULL,
};
static const char *const options_with_value[] = {"-x", NULL};

/* For the differences between vendors, see vendor/vendor.c. */
static void get_text_rules(void *opaque, ingot_text_rules_t *rules)
{
    const struct opencl_state *state = opaque;
    rules->options = options;
    rules->options_with_value = options_with_value;
    opencl_vendor_get_text_rules(state->vendor, rules);
}

static size_t state_size(uint32_t device_count)
{
    return sizeof(struct opencl_state) + device_count * sizeof(struct opencl_device);
}

void opencl_state_destroy(void *opaque)
{
    struct opencl_state *state = opaque;
    ingot_allocator_t allocator = {NULL, NULL, NULL};
    if (state == NULL)
        return;
    for (uint32_t i = 0; i < state->device_count; ++i) {
        if (state->devices[i].id != NULL)
            (void)state->cl->clReleaseDevice(state->devices[i].id);
    }
    if (state->context != NULL)
        (void)state->cl->clReleaseContext(state->context);
    allocator = state->allocator;
    ingot_deallocate(&allocator, state, state_size(state->device_count));
}

static ingot_status_t get_device_info(void *opaque, uint32_t device_index, ingot_device_info_t *info)
{
    const struct opencl_state *state = opaque;
    (void)device_index; /* all devices of a context have the same driver */
    info->generates_code_at_launch = state->generates_code_at_launch;
    return INGOT_SUCCESS;
}

static int accepts_opencl_source(void *opaque, ingot_source_kind_t kind)
{
    const struct opencl_state *state = opaque;
    return kind == INGOT_SOURCE_OPENCL_C || (kind == INGOT_SOURCE_SPIRV && state->takes_spirv);
}

const ingot_backend_ops_t opencl_ops = {
    .struct_size = sizeof(ingot_backend_ops_t),
    .name = "opencl",
    .destroy = opencl_state_destroy,
    .identify_device = opencl_identify_device,
    .get_device_info = get_device_info,
    .accepts = accepts_opencl_source,
    .build = opencl_build,
    .destroy_program = opencl_destroy_program,
    .get_kernel_names = opencl_get_kernel_names,
    .get_binary = opencl_get_binary,
    .load = opencl_load,
    .create_kernel = opencl_create_kernel,
    .destroy_kernel = opencl_destroy_kernel,
    .get_program_size = opencl_get_program_size,
    .get_text_rules = get_text_rules,
};

/* True if the platform is PoCL. False if it is not, or if its name cannot be queried. */
static bool is_of_pocl(const struct opencl_state *state, cl_platform_id platform)
{
    struct opencl_text text = {NULL, 0};
    bool is_so = false;
    if (opencl_platform_text(state->cl, &state->allocator, platform, CL_PLATFORM_NAME, &text) == INGOT_SUCCESS)
        is_so = opencl_vendor_of(text.chars) == OPENCL_POCL;
    opencl_text_fini(&state->allocator, &text);
    return is_so;
}

/* Returns the device that the native context lists in place of a sub-device, or NULL. PoCL lists the parent of the
 * sub-device. Other drivers list the sub-device itself, so the result is NULL. If they list only the parent, the
 * sub-device does not belong to the context. */
static cl_device_id listed_instead(const struct opencl_state *state, cl_device_id device)
{
    cl_device_id parent = NULL;
    cl_platform_id platform = NULL;
    if (state->cl->clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, NULL) != CL_SUCCESS ||
        parent == NULL ||
        state->cl->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) != CL_SUCCESS)
        return NULL;
    return is_of_pocl(state, platform) ? parent : NULL;
}

/* Returns the position of a device among these, or `count`. */
static size_t find_position(size_t count, const cl_device_id *devices, cl_device_id device)
{
    size_t at = 0;
    while (at < count && devices[at] != device)
        ++at;
    return at;
}

static ingot_status_t add_context_device(struct opencl_state *state, uint32_t index, cl_device_id id, size_t count,
                                         const cl_device_id *of_context)
{
    struct opencl_device device = {id, find_position(count, of_context, id)};
    cl_int error = CL_SUCCESS;
    if (device.context_position == count)
        device.context_position = find_position(count, of_context, listed_instead(state, id));
    if (device.context_position == count)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "devices: a device does not belong to the OpenCL context");
    for (uint32_t i = 0; i < index; ++i) {
        if (state->devices[i].id == id)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "devices: device %u is given twice",
                                          (unsigned)index);
    }
    error = state->cl->clRetainDevice(id);
    if (error != CL_SUCCESS)
        return opencl_fail(INGOT_BACKEND_ERROR, "clRetainDevice", error);
    state->devices[index] = device; /* from now on, opencl_state_destroy releases it */
    return INGOT_SUCCESS;
}

ingot_status_t opencl_state_learn(void *opaque, const void *opaque_facts)
{
    struct opencl_state *state = opaque;
    const struct opencl_state *facts = opaque_facts;
    struct opencl_text text = {NULL, 0};
    unsigned major = 1;
    unsigned minor = 0;
    ingot_status_t status = INGOT_SUCCESS;
    cl_int error = CL_SUCCESS;
    if (facts != NULL) {
        state->platform = facts->platform;
        state->version = facts->version;
        state->vendor = facts->vendor;
        state->takes_spirv = facts->takes_spirv;
        state->generates_code_at_launch = facts->generates_code_at_launch;
        return INGOT_SUCCESS;
    }
    error = state->cl->clGetDeviceInfo(state->devices[0].id, CL_DEVICE_PLATFORM, sizeof(state->platform),
                                       &state->platform, NULL);
    if (error != CL_SUCCESS)
        return opencl_fail(INGOT_BACKEND_ERROR, "clGetDeviceInfo", error);
    status = opencl_platform_text(state->cl, &state->allocator, state->platform, CL_PLATFORM_VERSION, &text);
    if (status != INGOT_SUCCESS)
        return status;
    if (sscanf(text.chars, "OpenCL %u.%u", &major, &minor) == 2)
        state->version = 10 * major + minor;
    opencl_text_fini(&state->allocator, &text);
    status = opencl_platform_text(state->cl, &state->allocator, state->platform, CL_PLATFORM_NAME, &text);
    if (status != INGOT_SUCCESS)
        return status;
    state->vendor = opencl_vendor_of(text.chars);
    state->generates_code_at_launch = state->vendor == OPENCL_POCL;
    opencl_text_fini(&state->allocator, &text);
    /* The query fails if the driver is older than OpenCL 2.1 and does not have the extension cl_khr_il_program. */
    state->takes_spirv = true;
    for (uint32_t i = 0; i < state->device_count && state->takes_spirv; ++i) {
        text = (struct opencl_text){NULL, 0};
        status = opencl_device_text(state, state->devices[i].id, CL_DEVICE_IL_VERSION, &text);
        if (status == INGOT_OUT_OF_MEMORY)
            return status;
        state->takes_spirv = status == INGOT_SUCCESS && strstr(text.chars, "SPIR-V") != NULL;
        opencl_text_fini(&state->allocator, &text);
    }
    return INGOT_SUCCESS;
}

ingot_status_t opencl_state_copy_facts(void **facts, const void *opaque)
{
    const struct opencl_state *state = opaque;
    struct opencl_state *copy = ingot_allocate(&state->allocator, state_size(0));
    if (copy == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for what is known of a platform");
    copy->allocator = state->allocator;
    copy->cl = state->cl;
    *facts = copy;
    return opencl_state_learn(copy, state);
}

/* Gets the native context's devices. The caller frees *devices, which has *count elements. */
static ingot_status_t get_context_devices(const cl_icd_dispatch *cl, const ingot_allocator_t *allocator,
                                          cl_context context, uint32_t *count, cl_device_id **devices)
{
    cl_device_id *found = NULL;
    size_t size = 0;
    cl_int error = cl->clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size);
    if (error == CL_INVALID_CONTEXT)
        return opencl_fail(INGOT_INVALID_ARGUMENTS, "cl_context: clGetContextInfo", error);
    if (error != CL_SUCCESS)
        return opencl_fail(INGOT_BACKEND_ERROR, "clGetContextInfo", error);
    if (size < sizeof(*found) || size / sizeof(*found) > UINT32_MAX)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the OpenCL context has %zu bytes of devices", size);
    found = ingot_allocate(allocator, size);
    if (found == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of devices", size);
    error = cl->clGetContextInfo(context, CL_CONTEXT_DEVICES, size, found, NULL);
    if (error != CL_SUCCESS) {
        ingot_deallocate(allocator, found, size);
        return opencl_fail(INGOT_BACKEND_ERROR, "clGetContextInfo", error);
    }
    *count = (uint32_t)(size / sizeof(*found));
    *devices = found;
    return INGOT_SUCCESS;
}

ingot_status_t opencl_state_create(struct opencl_state **out, const cl_icd_dispatch *cl,
                                   const ingot_allocator_t *allocator, cl_context context, uint32_t device_count,
                                   const cl_device_id *devices)
{
    cl_device_id *of_context = NULL;
    uint32_t count = 0;
    struct opencl_state *state = NULL;
    cl_int error = CL_SUCCESS;
    ingot_status_t status = get_context_devices(cl, allocator, context, &count, &of_context);
    if (status != INGOT_SUCCESS)
        return status;
    if (device_count > count) {
        status =
            ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device_count is %u, but the OpenCL context has %u devices",
                                   (unsigned)device_count, (unsigned)count);
        goto done;
    }
    const uint32_t wanted = device_count == 0 ? count : device_count;
    state = ingot_allocate(allocator, state_size(wanted));
    if (state == NULL) {
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context of %u devices", (unsigned)wanted);
        goto done;
    }
    state->allocator = *allocator;
    state->cl = cl;
    state->context_device_count = count;
    state->device_count = wanted;
    error = cl->clRetainContext(context);
    if (error != CL_SUCCESS) {
        status = opencl_fail(INGOT_BACKEND_ERROR, "clRetainContext", error);
        goto done;
    }
    state->context = context;
    for (uint32_t i = 0; i < wanted && status == INGOT_SUCCESS; ++i)
        status = add_context_device(state, i, device_count == 0 ? of_context[i] : devices[i], count, of_context);
    if (status == INGOT_SUCCESS) {
        *out = state;
        state = NULL;
    }
done:
    opencl_state_destroy(state);
    ingot_deallocate(allocator, of_context, count * sizeof(*of_context));
    return status;
}

#define HAS(name) &&cl->name != NULL

/* True if the table has the functions that every operation needs. Other functions are checked where they are called. */
static bool has_all_functions(const cl_icd_dispatch *cl)
{
    return true OPENCL_EACH_FUNCTION(HAS);
}

static ingot_status_t check_context_arguments(const ingot_context_t *context, const cl_icd_dispatch *cl,
                                              cl_context cl_context, uint32_t device_count, const cl_device_id *devices)
{
    if (context == NULL || cl == NULL || cl_context == NULL || (device_count != 0 && devices == NULL))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL      ? "context"
                                      : cl == NULL         ? "functions"
                                      : cl_context == NULL ? "cl_context"
                                                           : "devices");
    if (!has_all_functions(cl))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "functions lacks a function of OpenCL 1.2");
    return INGOT_SUCCESS;
}

ingot_status_t ingot_opencl_context_create_with(ingot_context_t *context, const cl_icd_dispatch *cl,
                                                cl_context cl_context, uint32_t device_count,
                                                const cl_device_id *devices, const ingot_context_info_t *info)
{
    const ingot_allocator_t allocator = ingot_context_info_get_allocator(info);
    struct opencl_state *state = NULL;
    ingot_status_t status = check_context_arguments(context, cl, cl_context, device_count, devices);
    if (status == INGOT_SUCCESS)
        status = opencl_state_create(&state, cl, &allocator, cl_context, device_count, devices);
    if (status != INGOT_SUCCESS)
        return status;
    status = opencl_state_learn(state, NULL);
    if (status == INGOT_SUCCESS)
        status = ingot_context_create(context, &opencl_ops, state, state->device_count, info);
    if (status != INGOT_SUCCESS)
        opencl_state_destroy(state);
    return status;
}

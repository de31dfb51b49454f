/*
 * state.c - creates the state, makes devices current, and queries them.
 */
#include "backends/hip/state.h"

#include "backends/hip/backend.h"
#include "backends/hip/errors.h"

#include <string.h>

void hip_state_destroy(void *opaque)
{
    struct hip_state *state = opaque;
    ingot_allocator_t allocator = {NULL, NULL, NULL};
    if (state == NULL)
        return;
    allocator = state->common.allocator;
    ingot_deallocate(&allocator, state->devices, state->common.device_count * sizeof(*state->devices));
    ingot_deallocate(&allocator, state, sizeof(*state));
}

ingot_status_t hip_enter(const struct hip_state *state, uint32_t device_index, int *previous)
{
    const int number = state->devices[device_index].number;
    int result = state->driver.get_device(previous);
    const char *call = "hipGetDevice";
    if (result == HIP_SUCCESS && *previous != number) {
        result = state->driver.set_device(number);
        call = "hipSetDevice";
    }
    return result == HIP_SUCCESS ? INGOT_SUCCESS : hip_fail(&state->driver, INGOT_BACKEND_ERROR, call, result);
}

void hip_leave(const struct hip_state *state, uint32_t device_index, int previous)
{
    if (previous != state->devices[device_index].number)
        (void)state->driver.set_device(previous);
}

/* Copies the name of an architecture. Returns false if the text is not one. */
static bool take_architecture(struct hip_device *device, const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_:+-");
    if (length < 4 || length >= sizeof(device->architecture) || strncmp(text, "gfx", 3) != 0)
        return false;
    memcpy(device->architecture, text, length);
    device->architecture[length] = '\0';
    return true;
}

/* The properties' layout differs between versions of HIP. They begin with a name of 256 bytes, and the only other text
 * with "gfx" is the architecture's name. */
static ingot_status_t query_architecture(const struct hip_driver *driver, struct hip_device *device)
{
    enum { NAME_SIZE = 256, SIZE = 8192 };
    char properties[SIZE];
    memset(properties, 0, sizeof(properties));
    const int result = driver->get_properties(properties, device->number);
    if (result != HIP_SUCCESS)
        return hip_fail(driver, INGOT_BACKEND_ERROR, "hipGetDeviceProperties", result);
    properties[SIZE - 1] = '\0';
    for (size_t i = NAME_SIZE; i < SIZE - 1; ++i) {
        if (take_architecture(device, properties + i))
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "HIP device %d tells no architecture (gcnArchName)",
                                  device->number);
}

static ingot_status_t add_devices(struct hip_state *state, uint32_t count, const int *devices, const char *architecture)
{
    ingot_status_t status = INGOT_SUCCESS;
    state->devices = ingot_allocate(&state->common.allocator, count * sizeof(*state->devices));
    if (state->devices == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context of %u devices", (unsigned)count);
    state->common.device_count = count;
    if (architecture != NULL) {
        state->devices[0].number = HIP_NO_DEVICE;
        if (!take_architecture(&state->devices[0], architecture) ||
            strcmp(state->devices[0].architecture, architecture) != 0)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "\"%.80s\" is not an architecture such as gfx90a",
                                          architecture);
        return INGOT_SUCCESS;
    }
    for (uint32_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        state->devices[i].number = devices[i];
        status = query_architecture(&state->driver, &state->devices[i]);
    }
    return status;
}

ingot_status_t hip_state_create(struct hip_state **out, const ingot_allocator_t *allocator, uint32_t count,
                                const int *devices, const char *architecture)
{
    struct hip_state *state = ingot_allocate(allocator, sizeof(*state));
    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context");
    state->common.allocator = *allocator;
    state->common.vendor = &hip_vendor;
    ingot_status_t status = hip_driver_open(&state->driver);
    if (status == INGOT_SUCCESS)
        status = add_devices(state, count, devices, architecture);
    if (status == INGOT_SUCCESS)
        *out = state;
    else
        hip_state_destroy(state);
    return status;
}

/*
 * identity.c - the fields that tell devices, drivers and compilers apart.
 *
 * Devices with equal fields run each other's binaries. The compute capability selects the code, NVRTC (with its library
 * of built-in functions) and nvJitLink make it, and the driver loads it. So their versions and build-ids are fields,
 * and so are the variables from which NVRTC takes more options. Whatever belongs to one machine or one process (UUIDs,
 * ordinals, clock rates, memory sizes, handles) is not a field.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/compiler/nvrtc_library.h"
#include "backends/cuda/state.h"
#include "util/nvjitlink.h"

#include <stdio.h>
#include <string.h>

/* Variables that change the code: NVRTC_APPEND_FLAGS and whatever else NVRTC reads. */
static const char *const code_variables[] = {"NVRTC_*", NULL};

static ingot_status_t add_text(ingot_identity_t *identity, const char *name, const char *text)
{
    return ingot_identity_add(identity, name, strlen(text), text);
}

static ingot_status_t add_version(ingot_identity_t *identity, const char *name, int major, int minor)
{
    char text[32] = "";
    (void)snprintf(text, sizeof(text), "%d.%d", major, minor);
    return add_text(identity, name, text);
}

/* A machine with a driver and no compiler still has an identity, but it loads nothing that a compiler made elsewhere.
 * */
static ingot_status_t add_compilers(const struct cuda_state *state, ingot_identity_t *identity)
{
    struct cuda_nvrtc nvrtc;
    struct nvjitlink linker;
    const char *libraries[4] = {NULL};
    size_t count = 0;
    const void *driver_function = NULL;
    ingot_status_t status = cuda_nvrtc_open(state->driver.version, &nvrtc);
    if (status == INGOT_SUCCESS) {
        libraries[count++] = nvrtc.library;
        libraries[count++] = nvrtc.builtins;
        status = add_version(identity, "nvrtc_version", nvrtc.major, nvrtc.minor);
    } else if (status == INGOT_UNIMPLEMENTED) {
        status = add_text(identity, "nvrtc_version", "none");
    }
    if (status != INGOT_SUCCESS)
        return status;
    if (nvjitlink_open((unsigned)state->driver.version / 1000, &linker))
        libraries[count++] = linker.library;
    memcpy(&driver_function, &state->driver.load_module, sizeof(driver_function));
    return ingot_identity_add_compiler(identity, driver_function, libraries);
}

ingot_status_t cuda_identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct cuda_state *state = opaque;
    const struct cuda_device *device = &state->devices[device_index];
    const int version = state->driver.version;
    ingot_status_t status = add_text(identity, "device_name", device->name);
    if (status == INGOT_SUCCESS)
        status = add_version(identity, "compute_capability", device->major, device->minor);
    if (status == INGOT_SUCCESS)
        status = add_version(identity, "driver_version", version / 1000, version % 1000 / 10);
    if (status == INGOT_SUCCESS)
        status = add_compilers(state, identity);
    return status == INGOT_SUCCESS ? ingot_identity_add_environment(identity, code_variables) : status;
}

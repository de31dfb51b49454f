/*
 * identity.c - adds the fields that identify a device, its driver and the compilers.
 *
 * Devices with equal fields share binaries. The compute capability selects the code, NVRTC (with its library of
 * built-in functions) and nvJitLink generate it, and the driver loads it. So the build-ids of these libraries are
 * fields, and so are the environment variables that add options for NVRTC. Whatever belongs to one machine or one
 * process (UUIDs, ordinals, clock rates, memory sizes, handles) is not a field.
 */
#include "backends/cuda/backend.h"
#include "backends/cuda/compiler/compile.h"
#include "util/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Environment variables that change the code: NVRTC_APPEND_FLAGS and whatever else NVRTC reads. */
static const char *const code_variables[] = {"NVRTC_*", NULL};

enum { MAJORS = 8, MINORS = 16, MAX_NAMES = MAJORS * (MINORS + 2) };

struct compiler_names {
    size_t count;
    const char *names[MAX_NAMES + 1]; /* NULL-terminated */
    char texts[MAX_NAMES][LIBRARY_NAME_SIZE];
};

static ingot_status_t add_identity_text(ingot_identity_t *identity, const char *name, const char *text)
{
    return ingot_identity_add(identity, name, strlen(text), text);
}

static ingot_status_t add_version(ingot_identity_t *identity, const char *name, int major, int minor)
{
    char text[32] = "";
    (void)snprintf(text, sizeof(text), "%d.%d", major, minor);
    return add_identity_text(identity, name, text);
}

static void add_compiler_name(struct compiler_names *names, const char *format, unsigned major, unsigned minor)
{
    char *text = names->texts[names->count];
    (void)snprintf(text, sizeof(names->texts[0]), format, major, minor);
    names->names[names->count++] = text;
}

ingot_status_t cuda_identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct cuda_state *state = opaque;
    const struct rtc_device *device = &state->common.devices[device_index];
    const int capability = atoi(device->architecture + strlen("sm_"));
    ingot_status_t status = add_identity_text(identity, "device_name", device->name);
    if (status == INGOT_SUCCESS)
        status = add_version(identity, "compute_capability", capability / 10, capability % 10);
    if (status == INGOT_SUCCESS)
        status = add_version(identity, "driver_version", state->version / 1000, state->version % 1000 / 10);
    if (status == INGOT_SUCCESS) {
        /* Adds all compilers that the driver is new enough for. NVRTC's library of built-in functions is added with
         * every minor version, because NVRTC reports its own minor version only when it is loaded, and loading it would
         * take longer than everything else here. A machine without a compiler has a different identity, so it does not
         * load what compilers made on other machines. */
        struct compiler_names names = {.count = 0};
        const void *driver_function = NULL;
        for (unsigned major = state->common.driver_major; major >= CUDA_NVRTC_OLDEST_MAJOR && names.count < MAX_NAMES;
             --major) {
            add_compiler_name(&names, "libnvrtc.so.%u", major, 0);
            add_compiler_name(&names, "libnvJitLink.so.%u", major, 0);
            for (unsigned minor = 0; minor < MINORS; ++minor)
                add_compiler_name(&names, "libnvrtc-builtins.so.%u.%u", major, minor);
        }
        memcpy(&driver_function, &state->common.load_module, sizeof(driver_function));
        status = ingot_identity_add_compiler(identity, driver_function, names.names);
    }
    return status == INGOT_SUCCESS ? ingot_identity_add_environment(identity, code_variables) : status;
}

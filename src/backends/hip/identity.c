/*
 * identity.c - adds the fields that identify a device and the compiler.
 *
 * Devices with equal fields share binaries. The architecture with its features selects the code, and hipRTC, comgr
 * and hipRTC's headers generate it. HIP's version numbers do not tell rebuilt libraries apart, and a path may name
 * another file than the one that is mapped. So hipRTC is made to load what it compiles with, and the build-ids are
 * those of the mapped libraries. The device's marketing name is not a field, so a machine without a GPU has the same
 * ids.
 */
#include "backends/hip/backend.h"
#include "backends/hip/compiler/compile.h"

#include <string.h>

/* Environment variables that change the code: HIPRTC_COMPILE_OPTIONS_APPEND and whatever else hipRTC reads. */
static const char *const code_variables[] = {"HIPRTC_*", NULL};

/* hipRTC includes its own header before the text by -include, which prefers files in the current directory. */
static const char *const files[] = {"hiprtc_runtime.h", "hiprtc_runtime.h.pch", "hiprtc_runtime.h.gch", NULL};

enum { OWN = 3 }; /* libraries whose names have the version of HIP */

static ingot_status_t add_compiler(const struct rtc_state *state, ingot_identity_t *identity)
{
    static const char *const bases[] = {"libamdhip64", "libhiprtc", "libhiprtc-builtins"};
    char texts[OWN][LIBRARY_NAME_SIZE];
    const char *names[] = {NULL, NULL, NULL, "libamd_comgr.so.2", "libamd_comgr.so.3", NULL};
    const void *function = NULL;
    struct rtc_compiler hiprtc;
    for (size_t i = 0; i < OWN; ++i) {
        (void)snprintf(texts[i], sizeof(texts[i]), "%s.so.%u", bases[i], state->driver_major);
        names[i] = texts[i];
    }
    if (hip_hiprtc_open(state->driver_major, &hiprtc) == INGOT_SUCCESS) {
        /* hipRTC loads the compiler's libraries, as it does for every program */
        void *program = NULL;
        if (hiprtc.create(&program, " ", NULL, 0, NULL, NULL) == 0)
            (void)hiprtc.destroy(&program);
        memcpy(&function, &hiprtc.create, sizeof(function));
    } else {
        memcpy(&function, &state->load_module, sizeof(function));
    }
    return ingot_identity_add_compiler(identity, function, names);
}

ingot_status_t hip_identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct rtc_state *state = opaque;
    const char *architecture = state->devices[device_index].architecture;
    ingot_status_t status = ingot_identity_add(identity, "device_name", strlen(architecture), architecture);
    if (status == INGOT_SUCCESS)
        status = add_compiler(state, identity);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_files(identity, "files", files);
    return status == INGOT_SUCCESS ? ingot_identity_add_environment(identity, code_variables) : status;
}

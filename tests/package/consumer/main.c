/*
 * main.c - an application outside of the repository, which calls a function of each library that it is linked with.
 */
#include <stdio.h>
#include <string.h>

#include <ingot/backend.h>
#ifdef WITH_CUDA
#include <ingot/cuda.h>
#endif
#ifdef WITH_HIP
#include <ingot/hip.h>
#endif
#include <ingot/ingot.h>
#ifdef WITH_LEVEL_ZERO
#include <ingot/level_zero.h>
#endif
#include <ingot/opencl.h>
#include <ingot/persist.h>
#ifdef WITH_REMOTE
#include <ingot/remote.h>
#endif
#include <ingot/storage.h>

static int version_agrees(void)
{
    char expected[32];
    const int length = snprintf(expected, sizeof(expected), "%d.%d.%d+", INGOT_VERSION_MAJOR, INGOT_VERSION_MINOR,
                                INGOT_VERSION_PATCH);
    return strncmp(ingot_version(), expected, (size_t)length) == 0;
}

int main(void)
{
    ingot_context_t context = NULL;
    ingot_storage_t storage = NULL;

    if (!version_agrees()) {
        fprintf(stderr, "the library is %s, its header another version\n", ingot_version());
        return 1;
    }
    if (ingot_opencl_context_create(&context, NULL, 0, NULL, NULL) != INGOT_INVALID_ARGUMENTS) {
        fprintf(stderr, "a NULL cl_context was taken\n");
        return 1;
    }
#ifdef WITH_LEVEL_ZERO
    if (ingot_level_zero_context_create(&context, NULL, NULL, 0, NULL, NULL) != INGOT_INVALID_ARGUMENTS) {
        fprintf(stderr, "a NULL ze_driver_handle_t was taken\n");
        return 1;
    }
#endif
#ifdef WITH_CUDA
    if (ingot_cuda_context_create(&context, 1, NULL, NULL) != INGOT_INVALID_ARGUMENTS) {
        fprintf(stderr, "no CUDA contexts were taken for some\n");
        return 1;
    }
#endif
#ifdef WITH_HIP
    if (ingot_hip_context_create(&context, 1, NULL, NULL) != INGOT_INVALID_ARGUMENTS) {
        fprintf(stderr, "no HIP devices were taken for some\n");
        return 1;
    }
#endif
    if (ingot_persist_open(&storage, NULL) != INGOT_INVALID_ARGUMENTS) {
        fprintf(stderr, "a NULL info was taken\n");
        return 1;
    }
#ifdef WITH_REMOTE
    if (ingot_remote_open(&storage, NULL) != INGOT_INVALID_ARGUMENTS) {
        fprintf(stderr, "a NULL info of a remote tier was taken\n");
        return 1;
    }
#endif
    printf("ingot %s\n", ingot_version());
    return 0;
}
